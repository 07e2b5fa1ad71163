/** Settings of the log. The level can also be changed at run time (`log-parameters.ts`). */

import { type Setting, type SettingsOf, setting } from './setting.ts';
import { booleanType, wordType } from './setting-type.ts';

/** The levels of the log, the least first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** Settings of the log. */
export const LOG_SETTINGS = {
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
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type LogSettings = SettingsOf<typeof LOG_SETTINGS>;
