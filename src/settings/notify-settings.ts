/** Settings of notifications. */

import { type Setting, type SettingsOf, setting } from './setting.ts';
import { textType } from './setting-type.ts';

/** Which receivers hear about problems of modules. */
export const NOTIFY_SETTINGS = {
  notifyConfig: setting(
    'notify-config',
    'ADDON_OPERATOR_NOTIFY_CONFIG',
    textType,
    '',
    'File with the receivers of notifications about problems of modules: webhooks, Slack, Alertmanager. It is read once, at the start.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type NotifySettings = SettingsOf<typeof NOTIFY_SETTINGS>;
