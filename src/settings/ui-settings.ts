/** Settings of the page in the browser. It is off by default and listens on loopback only. */

import { type Setting, type SettingsOf, setting } from './setting.ts';
import { booleanType, listType, portType, textType, wordType } from './setting-type.ts';

/** Settings of the page in the browser. */
export const UI_SETTINGS = {
  ui: setting(
    'ui',
    'ADDON_OPERATOR_UI',
    wordType(['off', 'loopback']),
    'off',
    'Serve a page about the operator: off, loopback (to this machine or pod, with a token; "addon-operator ui" prints the address).',
  ),
  uiPort: setting(
    'ui-port',
    'ADDON_OPERATOR_UI_PORT',
    portType,
    '9652',
    'Port of the page on 127.0.0.1; 0 picks a free one.',
  ),
  // The token alone allows only reading.
  hasUiActions: setting(
    'ui-actions',
    'ADDON_OPERATOR_UI_ACTIONS',
    booleanType,
    'false',
    'Allow clients with the token of the page to run, stop, pause and resume modules; otherwise the page only reads.',
  ),
  clusterName: setting(
    'cluster-name',
    'ADDON_OPERATOR_CLUSTER_NAME',
    textType,
    '',
    'Name of the cluster that the page shows; default: clusterName of the global values.',
  ),
  uiAllowedHosts: setting(
    'ui-allowed-hosts',
    'ADDON_OPERATOR_UI_ALLOWED_HOSTS',
    listType(',', 'list'),
    '',
    'Names of hosts under which browsers reach the page through a proxy, besides localhost and its addresses; others are refused.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type UiSettings = SettingsOf<typeof UI_SETTINGS>;
