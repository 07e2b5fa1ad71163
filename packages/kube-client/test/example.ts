import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { CredentialStore } from '@addon-operator/kube-client/credentials';
import { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';
import { loadKubeConfig } from '@addon-operator/kube-client/kube-config';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import { machineClock, silentLog, startSandbox } from '@addon-operator/kube-sandbox';

const stop = new AbortController();
const sandbox = await startSandbox({ clock: machineClock, log: silentLog }, stop.signal);

const readFile = (): Promise<string> => Promise.resolve(sandbox.kubeconfig);
const access = await loadKubeConfig({ kubeConfigPath: 'sandbox.yaml', env: {}, readFile });
const credentials = new CredentialStore(access, {
  clock: systemClock,
  readFile,
  loadPlugin: () => Promise.reject(new Error('the sandbox needs no credentials')),
});
const common = { clock: systemClock, random: Math.random };
const kube = new HttpKubeClient({ access, credentials, version: 'example', ...common });

const resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  isNamespaced: true,
  verbs: ['list', 'watch'],
};
const seen = Promise.withResolvers<void>();
const reflectors = createSharedReflectors({
  kube,
  log: silentLogger,
  rediscover: () => Promise.resolve(resource),
  ...common,
});
await reflectors.subscribe(
  { resource, namespace: 'default', labelSelector: 'app=web' },
  {
    stage: (objects) => Promise.resolve(console.log('present:', objects.length)),
    discard: () => undefined,
    commit: () => undefined,
    apply: ({ type, key }) => Promise.resolve(console.log(type, key)).then(seen.resolve),
  },
  stop.signal,
);

const path = '/api/v1/namespaces/default/configmaps';
const body = { metadata: { name: 'colors', labels: { app: 'web' } }, data: { sky: 'blue' } };
await kube.request({ method: 'POST', path, body }, stop.signal);
await seen.promise;

stop.abort();
kube.close();
await sandbox.stop();
