/**
 * The settings of the daemon. A flag with its variables is one entry in the table of a group,
 * `settings/*-settings.ts`; this file joins the tables. `cli/` makes options of them and gives what a user has set to
 * `settings/read-settings.ts`, which returns all values or reports all mistakes. From there `app/` passes the values
 * on, and each room names the groups that it uses. `--help`, docs/settings.md and the variables that the chart accepts
 * come from the same tables.
 */

import { AUTHORIZATION_SETTINGS } from './settings/authorization-settings.ts';
import { CONFIG_MAP_SETTINGS, INSTANCE_SETTINGS } from './settings/config-map-settings.ts';
import { DAEMON_SETTINGS } from './settings/daemon-settings.ts';
import { DEBUG_ENDPOINT_SETTINGS, DEBUG_SETTINGS } from './settings/debug-settings.ts';
import { DELIVERY_SETTINGS } from './settings/delivery-settings.ts';
import { DIRECTORY_SETTINGS } from './settings/directory-settings.ts';
import { HELM_SETTINGS } from './settings/helm-settings.ts';
import { EXTENSION_SETTINGS, HOOK_SETTINGS, HTTP_HOOK_SETTINGS } from './settings/hook-settings.ts';
import { KUBE_SETTINGS } from './settings/kube-settings.ts';
import { LEASE_SETTINGS } from './settings/lease-settings.ts';
import { LOG_SETTINGS } from './settings/log-settings.ts';
import { CRD_SETTINGS, MODULE_SETTINGS } from './settings/module-settings.ts';
import { NOTIFY_SETTINGS } from './settings/notify-settings.ts';
import { METRICS_SETTINGS, SERVER_SETTINGS } from './settings/server-settings.ts';
import type { Setting, SettingsOf } from './settings/setting.ts';
import { UI_SETTINGS } from './settings/ui-settings.ts';
import { UNSUPPORTED_SETTINGS } from './settings/unsupported-settings.ts';
import { ADMISSION_SERVER_SETTINGS, WEBHOOK_SETTINGS } from './settings/webhook-settings.ts';

/** Every flag and environment variable of the daemon, in the order of `--help` and of docs/settings.md. */
export const SETTINGS = {
  ...DIRECTORY_SETTINGS,
  ...INSTANCE_SETTINGS,
  ...CONFIG_MAP_SETTINGS,
  ...SERVER_SETTINGS,
  ...METRICS_SETTINGS,
  ...UNSUPPORTED_SETTINGS,
  ...MODULE_SETTINGS,
  ...CRD_SETTINGS,
  ...DELIVERY_SETTINGS,
  ...AUTHORIZATION_SETTINGS,
  ...EXTENSION_SETTINGS,
  ...HELM_SETTINGS,
  ...HTTP_HOOK_SETTINGS,
  ...ADMISSION_SERVER_SETTINGS,
  ...WEBHOOK_SETTINGS,
  ...KUBE_SETTINGS,
  ...HOOK_SETTINGS,
  ...DAEMON_SETTINGS,
  ...LOG_SETTINGS,
  ...UI_SETTINGS,
  ...NOTIFY_SETTINGS,
  ...DEBUG_ENDPOINT_SETTINGS,
  ...DEBUG_SETTINGS,
  ...LEASE_SETTINGS,
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type SettingName = keyof typeof SETTINGS;

/**
 * All settings with their values; names ending in `Ms` are milliseconds. Frozen. Rooms below `plan` take the types of the
 * groups that they use instead.
 */
export type Settings = SettingsOf<typeof SETTINGS>;

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
