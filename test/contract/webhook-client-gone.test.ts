import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { sandboxBackend } from '../support/backends.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';
import { processesOf, untilNoProcesses } from '../support/world-processes.ts';

const NAME = 'client-gone';
const CONFIGURATION = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${NAME}-hooks`;

/** A hook that never responds to the object "slow", and allows all others. */
const HOOK = shHook(
  `
kubernetesValidating:
- name: check.example.com
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]`,
  `
if grep -q '"name":"slow"' "$BINDING_CONTEXT_PATH"; then echo "hook runs"; sleep 600 & wait; fi
echo '{"allowed": true}' > "$VALIDATING_RESPONSE_PATH"`,
);

function reviewOf(name: string): string {
  const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
  const resource = { group: '', version: 'v1', resource: 'configmaps' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
  const fields = { uid: name, kind, resource, name, operation: 'CREATE', object };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: fields });
}

// FAULT-K8
test('a hook and its children end, when the client of its webhook disconnects', async () => {
  await using backend = await sandboxBackend();
  await using world = await World.create(backend, { globalHooks: { 'check.sh': HOOK } });
  await using daemon = DaemonProcess.start(world, {
    'webhook-url': 'https://127.0.0.1:1',
    'validating-webhook-configuration-name': NAME,
    'validating-webhook-listen-address': '127.0.0.1',
    'validating-webhook-listen-port': '0',
  });
  await daemon.untilConverged();
  const { port } = await daemon.record('webhooks are served');
  const { webhooks } = (await world.expect({ path: CONFIGURATION })) as {
    webhooks: { clientConfig: { url: string } }[];
  };
  const { pathname, search } = new URL(webhooks[0]?.clientConfig.url ?? '');
  const send = (name: string) => {
    const sent = request({
      host: '127.0.0.1',
      port: Number(port),
      path: `${pathname}${search}`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      agent: false,
      rejectUnauthorized: false,
    });
    const response = new Promise<string>((resolve, reject) => {
      sent.on('error', reject);
      sent.on('response', (incoming) => resolve(text(incoming)));
    });
    sent.end(reviewOf(name));
    return { sent, response };
  };

  const slow = send('slow');
  await daemon.log.untilPrinted('hook runs');
  expect(await processesOf(world)).not.toEqual([]);
  slow.sent.destroy();
  await expect(slow.response).rejects.toThrow('socket hang up');
  await untilNoProcesses(world);
  expect(JSON.parse(await send('fast').response)).toMatchObject({ response: { uid: 'fast', allowed: true } });
  expect(daemon.log.records.filter(({ level }) => level === 'error')).toEqual([]);
});
