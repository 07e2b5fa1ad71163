/** Settings of the process: shutdown, development mode, the jq engine. */

import { type Setting, type SettingsOf, setting } from './setting.ts';
import { booleanType, durationType, textType } from './setting-type.ts';

/** Settings of the process as a whole. */
export const DAEMON_SETTINGS = {
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
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type DaemonSettings = SettingsOf<typeof DAEMON_SETTINGS>;
