import { expect, test } from 'vitest';
import { readSettings } from '../../settings/read-settings.ts';

import { isGiven, sandboxFlags } from './sandbox-flags.ts';
import { sandboxFiles } from './sandbox-paths.ts';

const files = sandboxFiles('/checkout/.sandbox', '/tmp');

test('sandboxFlags() makes settings that suit the machine of a developer', () => {
  const settings = readSettings({ env: {}, flags: sandboxFlags({ env: {}, flags: {} }, files) });
  expect(settings).toMatchObject({
    namespace: 'addon-operator',
    tmpDir: '/checkout/.sandbox/tmp',
    debugUnixSocket: '/checkout/.sandbox/debug.socket',
    kubeConfig: '/checkout/.sandbox/kubeconfig',
    watchesFiles: true,
    shutdownGraceMs: 3_000,
    listenAddress: '127.0.0.1',
    listenPort: 9650,
    modulesDirs: ['modules'],
    globalHooksDir: 'global-hooks',
  });
});

test('sandboxFlags() yields to flags and variables, except for the cluster', () => {
  const env = { ADDON_OPERATOR_NAMESPACE: 'mine', KUBE_CONFIG: '/real', KUBE_CONTEXT: 'prod', LOG_TYPE: '' };
  const given = { env, flags: { 'shutdown-grace': '9s' } };
  const settings = readSettings({ env, flags: sandboxFlags(given, files) });
  expect(settings).toMatchObject({
    namespace: 'mine',
    shutdownGraceMs: 9_000,
    kubeConfig: '/checkout/.sandbox/kubeconfig',
    kubeContext: '',
    logType: 'text',
  });
});

test('sandboxFlags() refuses flags that select another cluster', () => {
  const given = { env: {}, flags: { 'kube-context': 'prod' } };
  expect(() => sandboxFlags(given, files)).toThrow('flag --kube-context cannot be used with "sandbox"');
});

test('isGiven() looks at the flag and at all its variables', () => {
  expect(isGiven('namespace', { env: {}, flags: {} })).toBe(false);
  expect(isGiven('namespace', { env: { SHELL_OPERATOR_NAMESPACE: 'a' }, flags: {} })).toBe(true);
  expect(isGiven('namespace', { env: { SHELL_OPERATOR_NAMESPACE: '' }, flags: {} })).toBe(false);
  expect(isGiven('namespace', { env: {}, flags: { namespace: 'a' } })).toBe(true);
});
