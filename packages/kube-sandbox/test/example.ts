import { machineClock, silentLog, startSandbox } from '@addon-operator/kube-sandbox';

const options = { clock: machineClock, log: silentLog };
const sandbox = await startSandbox(options, new AbortController().signal);

const configMaps = `${sandbox.url}/api/v1/namespaces/default/configmaps`;
const created = await fetch(configMaps, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ metadata: { name: 'colors' }, data: { sky: 'blue' } }),
});
console.log(created.status);

const response = await fetch(`${configMaps}/colors`);
const { kind, data } = (await response.json()) as { kind: string; data: Record<string, string> };
console.log(kind, data);

await sandbox.stop();
