import { hasCode } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import type { Settings } from '../settings.ts';
import { readSetting, readSettings } from './read-settings.ts';
import { runningSettings } from './running-settings.ts';

type Env = Readonly<Record<string, string>>;

function read(env: Env = {}, flags: Env = {}): Settings {
  return readSettings({ env: { ADDON_OPERATOR_NAMESPACE: 'ns', ...env }, flags });
}

function problemsOf(env: Env, flags: Env = {}): string {
  try {
    readSettings({ env, flags });
  } catch (error) {
    if (hasCode(error, 'CONFIG_INVALID')) return error.message;
    throw error;
  }
  throw new Error('no error was thrown');
}

test('without flags and variables the defaults hold', () => {
  expect(read()).toMatchObject({
    modulesDirs: ['modules'],
    globalHooksDir: 'global-hooks',
    unnumberedModulesOrder: 1,
    tmpDir: '/tmp/addon-operator',
    configMapName: 'addon-operator',
    listenAddress: '0.0.0.0',
    listenPort: 9650,
    metricsPrefix: 'addon_operator_',
    crdExtraLabels: { heritage: 'addon-operator' },
    crdFilterPrefixes: ['doc-', '_'],
    helmHistoryMax: 10,
    helmTimeoutMs: 1_200_000,
    kubeClientQps: 0,
    kubeClientBurst: 10,
    objectPatcherTimeoutMs: 10_000,
    logLevel: 'info',
    debugUnixSocket: '/var/run/addon-operator/debug.socket',
    hookTimeoutMs: 0,
    shutdownGraceMs: 30_000,
    watchesFiles: false,
    jq: 'auto',
    isHaEnabled: false,
    hasQueueActionMetrics: true,
  });
});

test('the settings are frozen', () => {
  expect(Object.isFrozen(read())).toBe(true);
});

test.each<[string, Env, Env, readonly string[]]>([
  ['the plain variable', { MODULES_DIR: '/a' }, {}, ['/a']],
  [
    'the prefixed variable over the plain one',
    { MODULES_DIR: '/a', ADDON_OPERATOR_MODULES_DIR: '/b' },
    {},
    ['/b'],
  ],
  [
    'the flag over both',
    { MODULES_DIR: '/a', ADDON_OPERATOR_MODULES_DIR: '/b' },
    { 'modules-dir': '/c' },
    ['/c'],
  ],
  ['several directories without empty ones', { MODULES_DIR: '/a::/b' }, {}, ['/a', '/b']],
])('modules are searched in %s', (_case, env, flags, expected) => {
  expect(read(env, flags).modulesDirs).toEqual(expected);
});

test('variables of shell-operator are the weakest', () => {
  expect(read({ SHELL_OPERATOR_LISTEN_PORT: '9999' }).listenPort).toBe(9999);
  expect(read({ SHELL_OPERATOR_LISTEN_PORT: '9999', ADDON_OPERATOR_LISTEN_PORT: '9650' }).listenPort).toBe(
    9650,
  );
  expect(read({ SHELL_OPERATOR_HOOKS_DIR: '/h', GLOBAL_HOOKS_DIR: '/g' }).globalHooksDir).toBe('/g');
});

test('a variable that is set but empty changes nothing', () => {
  expect(read({ ADDON_OPERATOR_CONFIG_MAP: '' }).configMapName).toBe('addon-operator');
  expect(read({ ADDON_OPERATOR_MODULES_DIR: '', MODULES_DIR: '/a' }).modulesDirs).toEqual(['/a']);
});

test.each(['1', 't', 'T', 'true', 'TRUE', 'True'])('%s means yes', (word) => {
  expect(read({ LOG_NO_TIME: word }).logsWithoutTime).toBe(true);
});

test.each(['0', 'f', 'F', 'false', 'FALSE', 'False'])('%s means no', (word) => {
  expect(read({ LOG_NO_TIME: word }).logsWithoutTime).toBe(false);
});

test.each<[Env, string]>([
  [
    { HELM_TIMEOUT: 'abc' },
    'variable HELM_TIMEOUT (flag --helm-timeout): value "abc" is invalid; accepted: a duration such as 90s, 20m or 1h30m',
  ],
  [{ ADDON_OPERATOR_HOOK_TIMEOUT: '-5s' }, 'value "-5s" is invalid'],
  [{ LOG_NO_TIME: 'yes' }, 'accepted: 1, t, true, 0, f, false'],
  [{ ADDON_OPERATOR_LISTEN_PORT: '70000' }, 'accepted: a whole number from 0 to 65535'],
  [{ KUBE_CLIENT_QPS: '-1' }, 'accepted: a number from 0'],
  [{ LOG_TYPE: 'xml' }, 'accepted: json, text, color'],
  [
    { HELM_DRIVER: 'memory' },
    'variable HELM_DRIVER: value "memory" is invalid; accepted: secret, secrets, configmap, configmaps; memory and sql are not supported',
  ],
  [{ HELM_DRIVER: 'sql' }, 'because releases are read from the cluster'],
  [{ ADDON_OPERATOR_CRD_EXTRA_LABELS: 'a=b,c' }, 'accepted: key=value pairs separated by commas'],
  [{ ADDON_OPERATOR_PROMETHEUS_METRICS_PREFIX: 'my-' }, 'value "my-" is invalid'],
])('%j is refused', (env, message) => {
  expect(problemsOf({ ADDON_OPERATOR_NAMESPACE: 'ns', ...env })).toContain(message);
});

test.each(['secret', 'secrets', 'configmap', 'configmaps'])('helm may keep its releases in %s', (driver) => {
  expect(read({ HELM_DRIVER: driver }).helmDriver).toBe(driver);
});

test('a wrong flag is named with its variable', () => {
  expect(problemsOf({ ADDON_OPERATOR_NAMESPACE: 'ns' }, { 'helm-timeout': 'soon' })).toBe(
    'flag --helm-timeout (variable HELM_TIMEOUT): value "soon" is invalid; accepted: a duration such as 90s, 20m or 1h30m',
  );
});

test('all mistakes are reported at once', () => {
  const problems = problemsOf({
    ADDON_OPERATOR_NAMESPACE: 'ns',
    HELM_TIMEOUT: 'x',
    KUBE_CLIENT_BURST: '-1',
    HELM2: 'yes',
  });
  expect(problems.split('\n')).toHaveLength(3);
  expect(problems).toContain('HELM_TIMEOUT');
  expect(problems).toContain('KUBE_CLIENT_BURST');
  expect(problems).toContain('helm 2 is not supported');
});

test('the namespace is required', () => {
  expect(problemsOf({})).toContain('--namespace (variable ADDON_OPERATOR_NAMESPACE) is required');
});

test('an unknown log level means info', () => {
  expect(read({ LOG_LEVEL: 'loud' }).logLevel).toBe('info');
  expect(read({ LOG_LEVEL: 'DEBUG' }).logLevel).toBe('debug');
});

test('only the word true enables HA, which needs pod and address', () => {
  expect(read({ ADDON_OPERATOR_HA: 'yes' }).isHaEnabled).toBe(false);
  const problems = problemsOf({ ADDON_OPERATOR_NAMESPACE: 'ns', ADDON_OPERATOR_HA: 'true' });
  expect(problems).toContain('ADDON_OPERATOR_POD env not set or empty');
  expect(problems).toContain('ADDON_OPERATOR_LISTEN_ADDRESS env not set or empty');
  const ha = {
    ADDON_OPERATOR_HA: 'true',
    ADDON_OPERATOR_POD: 'p',
    ADDON_OPERATOR_LISTEN_ADDRESS: '10.0.0.1',
  };
  expect(read(ha).isHaEnabled).toBe(true);
  expect(problemsOf(ha)).toContain('ADDON_OPERATOR_NAMESPACE env not set or empty');
});

test.each([
  ['team=a', { heritage: 'addon-operator', team: 'a' }],
  ['heritage=mine,team=a', { heritage: 'mine', team: 'a' }],
  ['heritage=', { heritage: '' }],
])('extra labels %j have a heritage', (text, labels) => {
  expect(read({ ADDON_OPERATOR_CRD_EXTRA_LABELS: text }).crdExtraLabels).toEqual(labels);
});

test('labels with odd names stay plain data', () => {
  const labels = read({ ADDON_OPERATOR_CRD_EXTRA_LABELS: '__proto__=x, a=b=c ,d=' }).crdExtraLabels;
  expect(Object.entries(labels)).toEqual([
    ['heritage', 'addon-operator'],
    ['__proto__', 'x'],
    ['a', 'b=c'],
    ['d', ''],
  ]);
});

test('QUEUE_ACTIONS_METRICS=no switches these metrics off', () => {
  expect(read({ QUEUE_ACTIONS_METRICS: 'no' }).hasQueueActionMetrics).toBe(false);
});

test('readSetting() needs no other setting to be right', () => {
  const socket = readSetting('debugUnixSocket', {
    env: { HELM_TIMEOUT: 'x', DEBUG_UNIX_SOCKET: '/s' },
    flags: {},
  });
  expect(socket).toBe('/s');
});

test.each([
  [{ ADDON_OPERATOR_LEASE_DURATION: '1500ms' }, 'whole seconds'],
  [{ ADDON_OPERATOR_LEASE_RENEW_DEADLINE: '35s' }, 'ADDON_OPERATOR_LEASE_RENEW_DEADLINE'],
  [{ ADDON_OPERATOR_LEASE_RETRY_PERIOD: '30s' }, 'ADDON_OPERATOR_LEASE_RETRY_PERIOD'],
])('times of the lease that do not fit together are refused with HA: %j', (env, problem) => {
  const ha = {
    ADDON_OPERATOR_NAMESPACE: 'ns',
    ADDON_OPERATOR_HA: 'true',
    ADDON_OPERATOR_POD: 'p',
    ADDON_OPERATOR_LISTEN_ADDRESS: '10.0.0.1',
  };
  expect(problemsOf({ ...ha, ...env })).toContain(problem);
  expect(() => read(env)).not.toThrow();
});

test('values of a running operator count for what neither flag nor variable gives', () => {
  const running = runningSettings(
    read({
      ADDON_OPERATOR_NAMESPACE: 'ops',
      HOOK_TIMEOUT: '90s',
      MODULES_DIR: 'a:/b',
      ADDON_OPERATOR_JQ: 'builtin',
    }),
    '/work',
  );
  const sent: unknown = JSON.parse(JSON.stringify(running));
  const settings = readSettings({
    env: { ADDON_OPERATOR_JQ: '/jq' },
    flags: { 'config-map': 'mine' },
    running: sent as Readonly<Record<string, unknown>>,
  });
  expect(settings).toMatchObject({
    namespace: 'ops',
    modulesDirs: ['/work/a', '/b'],
    globalHooksDir: '/work/global-hooks',
    kubeConfig: '',
    jq: '/jq',
    configMapName: 'mine',
  });
  expect(settings).toEqual({ ...settings, ...(sent as object), jq: '/jq', configMapName: 'mine' });
  expect(running).not.toHaveProperty('debugHttpToken');
});

test('a value of another type, from an operator of another version, does not count', () => {
  const running = {
    namespace: ['ops'],
    kubeClientQps: '5',
    modulesDirs: 'modules',
    crdFilterPrefixes: ['x'],
  };
  const env = { ADDON_OPERATOR_NAMESPACE: 'ns' };
  expect(readSettings({ env, flags: {}, running })).toEqual({
    ...readSettings({ env, flags: {} }),
    crdFilterPrefixes: ['x'],
  });
});

test('the failure policy of webhooks is accepted, though hooks decide it', () => {
  expect(read({ VALIDATING_WEBHOOK_FAILURE_POLICY: 'Ignore' }).validatingFailurePolicy).toBe('Ignore');
});

test('readSettings() wants to know what a policy compares modules with', () => {
  const read = (env: Readonly<Record<string, string>>) =>
    readSettings({ env: { ADDON_OPERATOR_NAMESPACE: 'ns', ...env }, flags: {} });
  expect(() => read({ AUTH_POLICY: 'digest' })).toThrow('--auth-policy digest needs --auth-lock-file');
  expect(() => read({ AUTH_POLICY: 'keyring' })).toThrow('--auth-policy keyring needs --auth-keyring');
  expect(read({ AUTH_POLICY: 'keyring', AUTH_KEYRING: 'keys' })).toMatchObject({ authPolicy: 'keyring' });
  expect(() => read({ AUTH_POLICY: 'gpg' })).toThrow('value "gpg" is invalid');
});

test('the debug endpoint on TCP is refused, when there is no token for it', () => {
  const address = { DEBUG_HTTP_SERVER_ADDR: ':9652' };
  expect(() => read(address)).toThrow(
    '--debug-http-addr (DEBUG_HTTP_SERVER_ADDR) needs --debug-http-token-file',
  );
  expect(() => read({ ...address, DEBUG_HTTP_TOKEN_FILE: '/token' })).not.toThrow();
  expect(() => read({ ...address, DEBUG_HTTP_TOKEN: 'token' })).not.toThrow();
});
