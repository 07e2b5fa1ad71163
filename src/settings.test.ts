import { expect, test } from 'vitest';
import type { Setting } from './settings/setting.ts';
import { REFUSED_VARIABLES, SETTINGS } from './settings.ts';

const ROWS: readonly Setting<unknown>[] = Object.values(SETTINGS);
const AO = 'ADDON_OPERATOR_';
const SO = 'SHELL_OPERATOR_';

/** Flags, variables from the strongest to the weakest, and defaults that users of the original rely on. */
const FLAGS: readonly (readonly [string, readonly string[], string])[] = [
  ['modules-dir', [`${AO}MODULES_DIR`, 'MODULES_DIR'], 'modules'],
  ['global-hooks-dir', [`${AO}GLOBAL_HOOKS_DIR`, 'GLOBAL_HOOKS_DIR', `${SO}HOOKS_DIR`], 'global-hooks'],
  ['unnumbered-modules-order', [`${AO}UNNUMBERED_MODULES_ORDER`, 'UNNUMBERED_MODULES_ORDER'], '1'],
  [
    'strict-check-values-mode-enabled',
    [`${AO}STRICT_CHECK_VALUES_MODE_ENABLED`, 'STRICT_CHECK_VALUES_MODE_ENABLED'],
    'false',
  ],
  ['tmp-dir', [`${AO}TMP_DIR`, `${SO}TMP_DIR`], '/tmp/addon-operator'],
  ['namespace', [`${AO}NAMESPACE`, `${SO}NAMESPACE`], ''],
  ['config-map', [`${AO}CONFIG_MAP`], 'addon-operator'],
  ['prometheus-listen-address', [`${AO}LISTEN_ADDRESS`, `${SO}LISTEN_ADDRESS`], '0.0.0.0'],
  ['prometheus-listen-port', [`${AO}LISTEN_PORT`, `${SO}LISTEN_PORT`], '9650'],
  [
    'prometheus-metrics-prefix',
    [`${AO}PROMETHEUS_METRICS_PREFIX`, `${SO}PROMETHEUS_METRICS_PREFIX`],
    'addon_operator_',
  ],
  ['shell-chroot-dir', [`${AO}SHELL_CHROOT_DIR`], ''],
  [
    'applied-module-extenders',
    [`${AO}APPLIED_MODULE_EXTENDERS`],
    'Static,DynamicallyEnabled,KubeConfig,ScriptEnabled',
  ],
  ['crd-extra-labels', [`${AO}CRD_EXTRA_LABELS`], 'heritage=addon-operator'],
  ['crd-filters', [`${AO}CRD_FILTER_PREFIXES`], 'doc-,_'],
  ['helm-history-max', ['HELM_HISTORY_MAX'], '10'],
  ['helm-timeout', ['HELM_TIMEOUT'], '20m'],
  ['helm-ignore-release', ['HELM_IGNORE_RELEASE'], ''],
  ['helm-monitor-kube-client-qps', ['HELM_MONITOR_KUBE_CLIENT_QPS'], '5'],
  ['helm-monitor-kube-client-burst', ['HELM_MONITOR_KUBE_CLIENT_BURST'], '10'],
  ['admission-server-enabled', [`${AO}ADMISSION_SERVER_ENABLED`], 'false'],
  ['admission-server-listen-port', [`${AO}ADMISSION_SERVER_LISTEN_PORT`], '9651'],
  ['admission-server-certs-dir', [`${AO}ADMISSION_SERVER_CERTS_DIR`], ''],
  ['kube-context', ['KUBE_CONTEXT'], ''],
  ['kube-config', ['KUBE_CONFIG'], ''],
  ['kube-server', ['KUBE_SERVER'], ''],
  ['kube-client-qps', ['KUBE_CLIENT_QPS'], '0'],
  ['kube-client-burst', ['KUBE_CLIENT_BURST'], '10'],
  ['object-patcher-kube-client-qps', ['OBJECT_PATCHER_KUBE_CLIENT_QPS'], '0'],
  ['object-patcher-kube-client-burst', ['OBJECT_PATCHER_KUBE_CLIENT_BURST'], '10'],
  ['object-patcher-kube-client-timeout', ['OBJECT_PATCHER_KUBE_CLIENT_TIMEOUT'], '10s'],
  ['log-level', ['LOG_LEVEL'], 'info'],
  // The original says text and always writes JSON.
  ['log-type', ['LOG_TYPE'], 'json'],
  ['log-no-time', ['LOG_NO_TIME'], 'false'],
  ['log-proxy-hook-json', ['LOG_PROXY_HOOK_JSON'], 'false'],
  [
    'debug-unix-socket',
    ['ADDON_OPERATOR_DEBUG_SOCKET', 'DEBUG_UNIX_SOCKET'],
    '/var/run/addon-operator/debug.socket',
  ],
  ['debug-http-addr', ['DEBUG_HTTP_SERVER_ADDR'], ''],
  ['debug-keep-tmp-files', ['DEBUG_KEEP_TMP_FILES'], 'false'],
  ['debug-kubernetes-api', ['DEBUG_KUBERNETES_API'], 'false'],
];

test.each(FLAGS)('the flag --%s has the variables %j and the default "%s"', (flag, env, initial) => {
  const row = ROWS.find((other) => other.flag === flag);
  expect([row?.env, row?.default, row?.isHidden ?? false]).toEqual([env, initial, flag.startsWith('debug-')]);
});

test('variables without a flag are known', () => {
  const variables = ROWS.filter(({ flag }) => flag === undefined).flatMap(({ env }) => env);
  for (const name of [`${AO}HA`, `${AO}POD`, 'HELM_DRIVER', 'QUEUE_ACTIONS_METRICS'])
    expect(variables).toContain(name);
  expect(REFUSED_VARIABLES).toHaveLength(5);
});
