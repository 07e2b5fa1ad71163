import {
  booleanType,
  countType,
  durationType,
  exceptWordType,
  integerType,
  labelsType,
  listType,
  metricPrefixType,
  onlyWordType,
  portType,
  rateType,
  type SettingType,
  textType,
  wordType,
} from './settings/setting-type.ts';

/** One flag of `start` with its environment variables, or a variable that has no flag. */
export interface Setting<T> {
  /** Name of the flag without dashes. */
  readonly flag?: string;
  /** Environment variables, the strongest first. */
  readonly env: readonly string[];
  readonly type: SettingType<T>;
  /** What holds when nothing is set, as the user would write it. */
  readonly default: string;
  readonly help: string;
  /** Left out of `--help`, listed by `debug-options`. */
  readonly isHidden?: boolean;
}

function setting<T>(
  flag: string,
  env: string | readonly string[],
  type: SettingType<T>,
  defaultText: string,
  help: string,
): Setting<T> {
  return { flag, env: typeof env === 'string' ? [env] : env, type, default: defaultText, help };
}

function hidden<T>(flag: string, env: string, type: SettingType<T>, text: string, help: string): Setting<T> {
  return { ...setting(flag, env, type, text, help), isHidden: true };
}

function variable<T>(env: string, type: SettingType<T>, defaultText: string, help: string): Setting<T> {
  return { env: [env], type, default: defaultText, help };
}

/** `ADDON_OPERATOR_<name>` beats the plain or older name. */
function ownAnd(name: string, older: string): readonly string[] {
  return [`ADDON_OPERATOR_${name}`, older];
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
const COMMA_LIST = listType(',', 'list');

/** Every flag and environment variable of the daemon; `--help`, the docs page and {@link Settings} come from it. */
export const SETTINGS = {
  modulesDirs: setting(
    'modules-dir',
    ownAnd('MODULES_DIR', 'MODULES_DIR'),
    listType(':', 'paths'),
    'modules',
    'Directories with modules, separated by colons.',
  ),
  globalHooksDir: setting(
    'global-hooks-dir',
    ['ADDON_OPERATOR_GLOBAL_HOOKS_DIR', 'GLOBAL_HOOKS_DIR', 'SHELL_OPERATOR_HOOKS_DIR'],
    textType,
    'global-hooks',
    'Directory with global hooks.',
  ),
  unnumberedModulesOrder: setting(
    'unnumbered-modules-order',
    ownAnd('UNNUMBERED_MODULES_ORDER', 'UNNUMBERED_MODULES_ORDER'),
    integerType(0, 2 ** 31 - 1),
    '1',
    'Order number of modules whose directory name has none.',
  ),
  requiresValuesFiles: setting(
    'strict-check-values-mode-enabled',
    ownAnd('STRICT_CHECK_VALUES_MODE_ENABLED', 'STRICT_CHECK_VALUES_MODE_ENABLED'),
    booleanType,
    'false',
    'Refuse to start when a values.yaml is missing.',
  ),
  tmpDir: setting(
    'tmp-dir',
    ownAnd('TMP_DIR', 'SHELL_OPERATOR_TMP_DIR'),
    textType,
    '/tmp/addon-operator',
    'Directory for temporary files; created if missing.',
  ),
  namespace: setting(
    'namespace',
    ownAnd('NAMESPACE', 'SHELL_OPERATOR_NAMESPACE'),
    textType,
    '',
    'Namespace of the ConfigMap, the helm releases and the lease. Required.',
  ),
  configMapName: setting(
    'config-map',
    'ADDON_OPERATOR_CONFIG_MAP',
    textType,
    'addon-operator',
    'Name of the ConfigMap with values.',
  ),
  listenAddress: setting(
    'prometheus-listen-address',
    ownAnd('LISTEN_ADDRESS', 'SHELL_OPERATOR_LISTEN_ADDRESS'),
    textType,
    '0.0.0.0',
    'Address of the HTTP server with metrics and probes.',
  ),
  listenPort: setting(
    'prometheus-listen-port',
    ownAnd('LISTEN_PORT', 'SHELL_OPERATOR_LISTEN_PORT'),
    portType,
    '9650',
    'Port of the HTTP server; 0 picks a free one.',
  ),
  metricsPrefix: setting(
    'prometheus-metrics-prefix',
    ownAnd('PROMETHEUS_METRICS_PREFIX', 'SHELL_OPERATOR_PROMETHEUS_METRICS_PREFIX'),
    metricPrefixType,
    'addon_operator_',
    'Prefix of the operator metrics.',
  ),
  shellChrootDir: setting(
    'shell-chroot-dir',
    'ADDON_OPERATOR_SHELL_CHROOT_DIR',
    textType,
    '',
    'Root directory for module scripts.',
  ),
  appliedModuleExtenders: setting(
    'applied-module-extenders',
    'ADDON_OPERATOR_APPLIED_MODULE_EXTENDERS',
    COMMA_LIST,
    'Static,DynamicallyEnabled,KubeConfig,ScriptEnabled',
    'What may enable or disable modules, the weakest first.',
  ),
  crdExtraLabels: setting(
    'crd-extra-labels',
    'ADDON_OPERATOR_CRD_EXTRA_LABELS',
    labelsType,
    'heritage=addon-operator',
    'Labels added to the CRDs of modules.',
  ),
  crdFilterPrefixes: setting(
    'crd-filters',
    'ADDON_OPERATOR_CRD_FILTER_PREFIXES',
    COMMA_LIST,
    'doc-,_',
    'CRD files whose names begin so are ignored.',
  ),
  helmHistoryMax: setting(
    'helm-history-max',
    'HELM_HISTORY_MAX',
    countType,
    '10',
    'Revisions that helm keeps of a release; 0 keeps all.',
  ),
  helmTimeoutMs: setting(
    'helm-timeout',
    'HELM_TIMEOUT',
    durationType,
    '20m',
    'Time limit of a helm operation.',
  ),
  helmIgnoreRelease: setting(
    'helm-ignore-release',
    'HELM_IGNORE_RELEASE',
    textType,
    '',
    'Release that the clean-up of unknown releases spares.',
  ),
  helmBinPath: setting(
    'helm-bin-path',
    'HELM_BIN_PATH',
    textType,
    '',
    'The helm executable; empty looks in PATH, then takes the pinned copy.',
  ),
  helmMonitorQps: setting(
    'helm-monitor-kube-client-qps',
    'HELM_MONITOR_KUBE_CLIENT_QPS',
    rateType,
    '5',
    'API requests per second of the resource monitor.',
  ),
  helmMonitorBurst: setting(
    'helm-monitor-kube-client-burst',
    'HELM_MONITOR_KUBE_CLIENT_BURST',
    countType,
    '10',
    'API requests of the resource monitor at once.',
  ),
  isAdmissionServerEnabled: setting(
    'admission-server-enabled',
    'ADDON_OPERATOR_ADMISSION_SERVER_ENABLED',
    booleanType,
    'false',
    'Start the HTTPS server for admission requests.',
  ),
  admissionServerPort: setting(
    'admission-server-listen-port',
    'ADDON_OPERATOR_ADMISSION_SERVER_LISTEN_PORT',
    portType,
    '9651',
    'Port of the admission server.',
  ),
  admissionServerCertsDir: setting(
    'admission-server-certs-dir',
    'ADDON_OPERATOR_ADMISSION_SERVER_CERTS_DIR',
    textType,
    '',
    'Directory with tls.crt and tls.key of the admission server.',
  ),
  kubeContext: setting('kube-context', 'KUBE_CONTEXT', textType, '', 'Context of the kubeconfig.'),
  kubeConfig: setting(
    'kube-config',
    'KUBE_CONFIG',
    textType,
    '',
    'Path of a kubeconfig; empty means the config of the cluster we run in.',
  ),
  kubeServer: setting(
    'kube-server',
    'KUBE_SERVER',
    textType,
    '',
    'URL of the API server, instead of the configured one.',
  ),
  kubeClientQps: setting('kube-client-qps', 'KUBE_CLIENT_QPS', rateType, '5', 'API requests per second.'),
  kubeClientBurst: setting(
    'kube-client-burst',
    'KUBE_CLIENT_BURST',
    countType,
    '10',
    'API requests at once.',
  ),
  objectPatcherQps: setting(
    'object-patcher-kube-client-qps',
    'OBJECT_PATCHER_KUBE_CLIENT_QPS',
    rateType,
    '5',
    'API requests per second for object patches of hooks.',
  ),
  objectPatcherBurst: setting(
    'object-patcher-kube-client-burst',
    'OBJECT_PATCHER_KUBE_CLIENT_BURST',
    countType,
    '10',
    'API requests at once for object patches of hooks.',
  ),
  objectPatcherTimeoutMs: setting(
    'object-patcher-kube-client-timeout',
    'OBJECT_PATCHER_KUBE_CLIENT_TIMEOUT',
    durationType,
    '10s',
    'Time limit of an API request for object patches of hooks.',
  ),
  hookTimeoutMs: setting(
    'hook-timeout',
    'ADDON_OPERATOR_HOOK_TIMEOUT',
    durationType,
    '0',
    'Time limit of a hook run; 0 means none.',
  ),
  shutdownGraceMs: setting(
    'shutdown-grace',
    'ADDON_OPERATOR_SHUTDOWN_GRACE',
    durationType,
    '30s',
    'How long running hooks and helm may take to finish after SIGTERM.',
  ),
  watchesFiles: setting(
    'watch-files',
    'ADDON_OPERATOR_WATCH_FILES',
    booleanType,
    'false',
    'Development: load hooks and modules again when their files change.',
  ),
  exitsAfterConverge: setting(
    'exit-after-converge',
    'ADDON_OPERATOR_EXIT_AFTER_CONVERGE',
    booleanType,
    'false',
    'End after the first converge: exit code 0 if it succeeded.',
  ),
  jq: setting(
    'jq',
    'ADDON_OPERATOR_JQ',
    textType,
    'auto',
    'The jq engine: auto, builtin, or the path of a jq executable.',
  ),
  logLevel: setting(
    'log-level',
    'LOG_LEVEL',
    wordType(LOG_LEVELS, 'info'),
    'info',
    'The least level that is logged: trace, debug, info, warn, error, fatal.',
  ),
  logType: setting(
    'log-type',
    'LOG_TYPE',
    wordType(['json', 'text', 'color']),
    'json',
    'Format of the log: json, text, color.',
  ),
  logsWithoutTime: setting(
    'log-no-time',
    'LOG_NO_TIME',
    booleanType,
    'false',
    'Leave the time out of log records.',
  ),
  proxiesHookJson: setting(
    'log-proxy-hook-json',
    'LOG_PROXY_HOOK_JSON',
    booleanType,
    'false',
    'Join the output of a hook until it forms complete JSON before logging it.',
  ),
  debugUnixSocket: hidden(
    'debug-unix-socket',
    'DEBUG_UNIX_SOCKET',
    textType,
    '/var/run/addon-operator/debug.socket',
    'Path of the debug socket.',
  ),
  debugHttpAddress: hidden(
    'debug-http-addr',
    'DEBUG_HTTP_SERVER_ADDR',
    textType,
    '',
    'host:port for the debug endpoint on TCP, read only and without authentication.',
  ),
  keepsTmpFiles: hidden(
    'debug-keep-tmp-files',
    'DEBUG_KEEP_TMP_FILES',
    booleanType,
    'false',
    'Keep the temporary files of hook runs.',
  ),
  logsKubeApi: hidden(
    'debug-kubernetes-api',
    'DEBUG_KUBERNETES_API',
    booleanType,
    'false',
    'Log API requests at debug level.',
  ),
  isHaEnabled: variable(
    'ADDON_OPERATOR_HA',
    onlyWordType('true'),
    'false',
    'Run several replicas, of which the holder of a lease works.',
  ),
  podName: variable('ADDON_OPERATOR_POD', textType, '', 'Name of our pod; required with ADDON_OPERATOR_HA.'),
  helmDriver: variable('HELM_DRIVER', textType, 'secret', 'Where helm stores releases.'),
  hasQueueActionMetrics: variable(
    'QUEUE_ACTIONS_METRICS',
    exceptWordType('no'),
    'yes',
    'Export tasks_queue_action_duration_seconds.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** All settings with their values; names ending in `Ms` are milliseconds. Frozen. */
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> };

/** Variables of helm 2 and Tiller: whoever still sets them expects what no longer exists. */
export const REFUSED_VARIABLES: readonly string[] = [
  'HELM2',
  'TILLER_MAX_HISTORY',
  'TILLER_BIN_PATH',
  'ADDON_OPERATOR_TILLER_LISTEN_PORT',
  'ADDON_OPERATOR_TILLER_PROBE_LISTEN_PORT',
];
