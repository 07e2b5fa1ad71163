import { AUTHORIZATION_SETTINGS } from './settings/authorization-settings.ts';
import { DEBUG_SETTINGS } from './settings/debug-settings.ts';
import { HELM_SETTINGS, helmDriverType } from './settings/helm-settings.ts';
import { EXTENSION_SETTINGS, HOOK_SETTINGS, HTTP_HOOK_SETTINGS } from './settings/hook-settings.ts';
import { LEASE_SETTINGS } from './settings/lease-settings.ts';
import { ownAnd, type Setting, setting, variable } from './settings/setting.ts';
import {
  booleanType,
  countType,
  durationType,
  exceptWordType,
  integerType,
  labelsWith,
  listType,
  metricPrefixType,
  portType,
  rateType,
  textType,
  wordType,
} from './settings/setting-type.ts';
import { UI_SETTINGS } from './settings/ui-settings.ts';
import { WEBHOOK_SETTINGS } from './settings/webhook-settings.ts';

/** The levels of the log, the least first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
const COMMA_LIST = listType(',', 'list');

/** Every flag and environment variable of the daemon; `--help`, the docs page and {@link Settings} come from it. */
export const SETTINGS = {
  modulesDirs: setting(
    'modules-dir',
    ownAnd('MODULES_DIR'),
    listType(':', 'paths'),
    'modules',
    'Directories with modules, separated by colons.',
  ),
  allowsLinksOutside: setting(
    'allow-links-outside',
    'ADDON_OPERATOR_ALLOW_LINKS_OUTSIDE',
    booleanType,
    'false',
    'Accept symbolic links in modules to targets outside of their module.',
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
    ownAnd('UNNUMBERED_MODULES_ORDER'),
    integerType(0, 2 ** 31 - 1),
    '1',
    'Order number of modules whose directory name has none.',
  ),
  requiresValuesFiles: setting(
    'strict-check-values-mode-enabled',
    ownAnd('STRICT_CHECK_VALUES_MODE_ENABLED'),
    booleanType,
    'false',
    'Fail the start if a values.yaml is missing.',
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
  configMapGraceMs: setting(
    'config-map-grace',
    'ADDON_OPERATOR_CONFIG_MAP_GRACE',
    durationType,
    '10s',
    'How long to wait for a deleted ConfigMap to return before it counts as deleted; its last content stays in use until then. Also applies at start if the ConfigMap existed before. 0: do not wait.',
  ),
  secretReferences: setting(
    'secret-references',
    'ADDON_OPERATOR_SECRET_REFERENCES',
    COMMA_LIST,
    '',
    'Sections of values in which valueFrom.secretKeyRef is replaced by the content of a Secret: names of modules, global, or * for all.',
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
    'Root directory for module scripts. Not supported: the start fails if it is set.',
  ),
  appliedModuleExtenders: setting(
    'applied-module-extenders',
    'ADDON_OPERATOR_APPLIED_MODULE_EXTENDERS',
    COMMA_LIST,
    'Static,DynamicallyEnabled,KubeConfig,ScriptEnabled',
    'Sources that may enable or disable modules, in order of increasing precedence.',
  ),
  runsModulesInParallel: setting(
    'parallel-modules',
    'ADDON_OPERATOR_PARALLEL_MODULES',
    booleanType,
    'false',
    'Run modules with equal order numbers at the same time, unless one requires another.',
  ),
  moduleFailurePolicy: setting(
    'module-failure-policy',
    'ADDON_OPERATOR_MODULE_FAILURE_POLICY',
    wordType(['block', 'isolate']),
    'block',
    'What a failing module blocks: block (all modules behind it), isolate (only modules that require it).',
  ),
  keepsModuleObjects: setting(
    'module-objects',
    'ADDON_OPERATOR_MODULE_OBJECTS',
    booleanType,
    'true',
    'Show the status of each module in an object of kind Module, and record Events for it.',
  ),
  crdExtraLabels: setting(
    'crd-extra-labels',
    'ADDON_OPERATOR_CRD_EXTRA_LABELS',
    labelsWith({ heritage: 'addon-operator' }),
    'heritage=addon-operator',
    'Labels of all objects and CRDs of modules; heritage=addon-operator is added unless heritage is set.',
  ),
  crdFilterPrefixes: setting(
    'crd-filters',
    'ADDON_OPERATOR_CRD_FILTER_PREFIXES',
    COMMA_LIST,
    'doc-,_',
    'Prefixes of the names of CRD files that are ignored.',
  ),
  ...AUTHORIZATION_SETTINGS,
  ...EXTENSION_SETTINGS,
  ...HELM_SETTINGS,
  ...HTTP_HOOK_SETTINGS,
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
  ...WEBHOOK_SETTINGS,
  kubeContext: setting('kube-context', 'KUBE_CONTEXT', textType, '', 'Context of the kubeconfig.'),
  kubeConfig: setting(
    'kube-config',
    'KUBE_CONFIG',
    textType,
    '',
    'Path of a kubeconfig; empty uses the service account of the pod, then KUBECONFIG, then ~/.kube/config.',
  ),
  kubeServer: setting(
    'kube-server',
    'KUBE_SERVER',
    textType,
    '',
    'URL of the API server, instead of the configured one.',
  ),
  kubeClientQps: setting(
    'kube-client-qps',
    'KUBE_CLIENT_QPS',
    rateType,
    '0',
    'API requests per second, 0: no limit.',
  ),
  kubeClientBurst: setting(
    'kube-client-burst',
    'KUBE_CLIENT_BURST',
    countType,
    '10',
    'Burst of API requests, with --kube-client-qps.',
  ),
  objectPatcherQps: setting(
    'object-patcher-kube-client-qps',
    'OBJECT_PATCHER_KUBE_CLIENT_QPS',
    rateType,
    '0',
    'API requests per second for object patches of hooks, 0: no limit.',
  ),
  objectPatcherBurst: setting(
    'object-patcher-kube-client-burst',
    'OBJECT_PATCHER_KUBE_CLIENT_BURST',
    countType,
    '10',
    'Burst of API requests for object patches of hooks, with --object-patcher-kube-client-qps.',
  ),
  objectPatcherTimeoutMs: setting(
    'object-patcher-kube-client-timeout',
    'OBJECT_PATCHER_KUBE_CLIENT_TIMEOUT',
    durationType,
    '10s',
    'Time limit of an API request for object patches of hooks.',
  ),
  ...HOOK_SETTINGS,
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
    'Exit after the first converge, with code 0 if it succeeded.',
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
    'Minimum level of log records: trace, debug, info, warn, error, fatal.',
  ),
  logType: setting(
    'log-type',
    'LOG_TYPE',
    wordType(['json', 'text', 'color']),
    'json',
    'Format of the log: json, text, color. Unless it is set, a terminal shows readable lines.',
  ),
  logsWithoutTime: setting(
    'log-no-time',
    'LOG_NO_TIME',
    booleanType,
    'false',
    'Omit the time in log records.',
  ),
  proxiesHookJson: setting(
    'log-proxy-hook-json',
    'LOG_PROXY_HOOK_JSON',
    booleanType,
    'false',
    'Accepted for compatibility: JSON objects that hooks print over several lines are always joined.',
  ),
  ...UI_SETTINGS,
  ...DEBUG_SETTINGS,
  ...LEASE_SETTINGS,
  helmDriver: variable('HELM_DRIVER', helmDriverType, 'secret', 'Where helm stores releases.'),
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

/** Variables with credentials of the daemon itself. */
export const SECRET_VARIABLES: readonly string[] = Object.values<Setting<unknown>>(SETTINGS)
  .filter(({ isSecret }) => isSecret === true)
  .flatMap(({ env }) => env);

/** Variables of helm 2 and Tiller: a user who still sets them relies on behaviour that no longer exists. */
export const REFUSED_VARIABLES: readonly string[] = [
  'HELM2',
  'TILLER_MAX_HISTORY',
  'TILLER_BIN_PATH',
  'ADDON_OPERATOR_TILLER_LISTEN_PORT',
  'ADDON_OPERATOR_TILLER_PROBE_LISTEN_PORT',
];
