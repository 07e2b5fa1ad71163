import { type Setting, setting } from './setting.ts';
import { durationType, integerType, listType, wordType } from './setting-type.ts';

/** Settings of how hooks, enabled scripts and extensions are run. */
export const HOOK_SETTINGS = {
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
    'Time limit of one call of an extension; what it waits for in the operator is not counted.',
  ),
  hookMemoryLimitMib: setting(
    'hook-memory-limit',
    'ADDON_OPERATOR_HOOK_MEMORY_LIMIT',
    integerType(16, 16_384),
    '256',
    'MiB of heap that an in-process hook or an extension may use; its buffers may use as much again.',
  ),
  hookOutputLimitBytes: setting(
    'hook-output-limit',
    'ADDON_OPERATOR_HOOK_OUTPUT_LIMIT',
    integerType(0, Number.MAX_SAFE_INTEGER),
    '16777216',
    'Bytes of output of one run of a hook or enabled script that are logged, the rest is dropped and counted; 0 means all.',
  ),
  hookContextMaxBytes: setting(
    'hook-context-max-bytes',
    'ADDON_OPERATOR_HOOK_CONTEXT_MAX_BYTES',
    integerType(1, Number.MAX_SAFE_INTEGER),
    '67108864',
    'Bytes of binding contexts that one run of a hook is given; what is over goes into the next run, in order.',
  ),
  hookBacklogMaxBytes: setting(
    'hook-backlog-max-bytes',
    'ADDON_OPERATOR_HOOK_BACKLOG_MAX_BYTES',
    integerType(1, Number.MAX_SAFE_INTEGER),
    '67108864',
    'Bytes of events that wait for hooks or are part of a hook run in progress; beyond them older states of objects whose newer state waits too are dropped.',
  ),
  hookEnv: setting(
    'hook-env',
    'ADDON_OPERATOR_HOOK_ENV',
    wordType(['all', 'allow-list']),
    'all',
    'Variables of the daemon that hooks and enabled scripts get: all, allow-list.',
  ),
  hookEnvAllowed: setting(
    'hook-env-allow',
    'ADDON_OPERATOR_HOOK_ENV_ALLOW',
    listType(',', 'list'),
    'PATH,HOME,HOSTNAME,LANG,LC_*,TZ,TMPDIR,KUBERNETES_SERVICE_*',
    'The variables of --hook-env allow-list; a trailing * matches any suffix.',
  ),
  metricGroups: setting(
    'hook-metric-groups',
    'ADDON_OPERATOR_HOOK_METRIC_GROUPS',
    wordType(['shared', 'hook']),
    'shared',
    'Whose series a hook replaces and expires with a named group of metrics: shared (of every hook), hook (its own).',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;
