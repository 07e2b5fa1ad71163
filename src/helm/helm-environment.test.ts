import { expect, test } from 'vitest';
import { helmEnvironment } from './helm-environment.ts';

test('helmEnvironment() keeps the environment, but no helm settings of a person', () => {
  const env = helmEnvironment({
    base: {
      PATH: '/bin',
      HTTPS_PROXY: 'p',
      KUBECONFIG: '/theirs',
      HELM_NAMESPACE: 'x',
      HELM_DEBUG: '1',
      GONE: undefined,
    },
    kubeConfigPath: '/ours',
    workDir: '/state',
    pluginsDir: '/state/plugins',
    storageDriver: 'secret',
  });
  expect(env).toEqual({
    PATH: '/bin',
    HTTPS_PROXY: 'p',
    KUBECONFIG: '/ours',
    KUBECACHEDIR: '/state/kube-cache',
    HELM_CACHE_HOME: '/state/cache',
    HELM_CONFIG_HOME: '/state/config',
    HELM_DATA_HOME: '/state/data',
    HELM_PLUGINS: '/state/plugins',
    HELM_DRIVER: 'secret',
  });
});
