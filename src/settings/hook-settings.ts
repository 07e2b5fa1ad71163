/**
 * Settings of hooks, extensions and HTTP hooks: limits of time, memory and size, environment, allowed hosts. A hook can set
 * its own time limit in its configuration, which overrides the setting.
 */

import { type Setting, type SettingsOf, setting } from './setting.ts';
import { durationType, integerType, listType, textType, wordType } from './setting-type.ts';

/** Settings of how hooks, enabled scripts and extensions are run. */
export const HOOK_SETTINGS = {
  // `settings.timeout` in the configuration of a hook overrides it.
  hookTimeoutMs: setting(
    'hook-timeout',
    'ADDON_OPERATOR_HOOK_TIMEOUT',
    durationType,
    '0',
    'Time limit of a hook run; 0 means none.',
  ),
  extensionTimeoutMs: setting(
    'extension-timeout',
    'ADDON_OPERATOR_EXTENSION_TIMEOUT',
    durationType,
    '30s',
    'Time limit of one call of an extension; time it waits for the operator does not count.',
  ),
  hookMemoryLimitMib: setting(
    'hook-memory-limit',
    'ADDON_OPERATOR_HOOK_MEMORY_LIMIT',
    integerType(16, 16_384),
    '256',
    'MiB of heap that an in-process hook or an extension may use; its buffers may use the same amount in addition.',
  ),
  // The limit protects the log; the files that a hook writes have a fixed limit of 10 MiB each.
  hookOutputLimitBytes: setting(
    'hook-output-limit',
    'ADDON_OPERATOR_HOOK_OUTPUT_LIMIT',
    integerType(0, Number.MAX_SAFE_INTEGER),
    '16777216',
    'Bytes of output of one run of a hook or enabled script that are logged; further output is dropped and counted; 0 means no limit.',
  ),
  // HTTP hooks have a second limit, that of a request: see `hooks/http/post-hook.ts`.
  hookContextMaxBytes: setting(
    'hook-context-max-bytes',
    'ADDON_OPERATOR_HOOK_CONTEXT_MAX_BYTES',
    integerType(1, Number.MAX_SAFE_INTEGER),
    '67108864',
    'Maximum bytes of binding contexts for one run of a hook; further contexts go to the next run, in order.',
  ),
  // Approximate memory in the heap, see `hooks/event-backlog.ts`.
  hookBacklogMaxBytes: setting(
    'hook-backlog-max-bytes',
    'ADDON_OPERATOR_HOOK_BACKLOG_MAX_BYTES',
    integerType(1, Number.MAX_SAFE_INTEGER),
    '67108864',
    'Bytes of events that wait for hooks or are part of a hook run in progress; above this limit, older states of objects are dropped if a newer state is queued.',
  ),
  // Recordings in memory, see `recordings/failed-runs.ts`.
  keptHookFailures: setting(
    'record-failed',
    'ADDON_OPERATOR_RECORD_FAILED',
    integerType(0, 1_000),
    '0',
    'How many of the last hook runs that failed are kept in memory for hook record --failed, with secrets masked and up to 64 MiB in all; 0 means none.',
  ),
  hookEnv: setting(
    'hook-env',
    'ADDON_OPERATOR_HOOK_ENV',
    wordType(['all', 'allow-list']),
    'all',
    'Variables of the daemon that hooks and enabled scripts receive: all, allow-list.',
  ),
  // Credentials of the daemon are removed even if this list names them.
  hookEnvAllowed: setting(
    'hook-env-allow',
    'ADDON_OPERATOR_HOOK_ENV_ALLOW',
    listType(',', 'list'),
    'PATH,HOME,HOSTNAME,LANG,LC_*,TZ,TMPDIR,KUBERNETES_SERVICE_*',
    'Variables that hooks receive with --hook-env allow-list; a trailing * matches any suffix.',
  ),
  // `shared` is the behaviour of the original: two hooks with the same group name replace each other's series.
  metricGroups: setting(
    'hook-metric-groups',
    'ADDON_OPERATOR_HOOK_METRIC_GROUPS',
    wordType(['shared', 'hook']),
    'shared',
    'Series that a hook replaces and expires with a named group of metrics: shared (of all hooks), hook (only its own).',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type HookRunSettings = SettingsOf<typeof HOOK_SETTINGS>;

/** Settings of extension points. */
export const EXTENSION_SETTINGS = {
  customizationsDir: setting(
    'customizations-dir',
    'ADDON_OPERATOR_CUSTOMIZATIONS_DIR',
    textType,
    '',
    'Directory with extensions for kinds of objects; empty means customizations next to the directory of global hooks.',
  ),
  flowHooksDir: setting(
    'flow-hooks-dir',
    'ADDON_OPERATOR_FLOW_HOOKS_DIR',
    textType,
    '',
    'Directory with flow hooks; empty means flow-hooks next to the directory of global hooks.',
  ),
  fatalDeployErrors: setting(
    'fatal-deploy-errors',
    'ADDON_OPERATOR_FATAL_DEPLOY_ERRORS',
    wordType(['retry', 'stop']),
    'retry',
    'What to do after the API server permanently rejects objects: retry, or stop until something changes.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type ExtensionSettings = SettingsOf<typeof EXTENSION_SETTINGS>;

/** Settings of HTTP hooks and of the reconcile webhooks of modules. */
export const HTTP_HOOK_SETTINGS = {
  // See `hooks/http/allowed-hosts.ts`.
  httpHookAllowedHosts: setting(
    'http-hook-allowed-hosts',
    'ADDON_OPERATOR_HTTP_HOOK_ALLOWED_HOSTS',
    listType(',', 'list'),
    '*.svc,*.svc.cluster.local',
    'Allowed hosts for HTTP hooks whose URL comes from objects in the cluster: names, *.SUFFIX, addresses. Local addresses must be listed for any HTTP hook, and for receivers of notifications.',
  ),
  httpHookChildNamespaces: setting(
    'http-hook-child-namespaces',
    'ADDON_OPERATOR_HTTP_HOOK_CHILD_NAMESPACES',
    listType(',', 'list'),
    '',
    'Where reconcile webhooks may add objects in addition to the namespaces of their module: namespaces, * for all, Cluster for cluster-scoped kinds.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type HttpHookSettings = SettingsOf<typeof HTTP_HOOK_SETTINGS>;
