/** Settings of the page in the browser. It is off by default and listens on loopback only. */

import { type Setting, type SettingsOf, secret, setting } from './setting.ts';
import {
  booleanType,
  headerNameType,
  listType,
  networksType,
  portType,
  textType,
  wordType,
} from './setting-type.ts';

/** Settings of the page in the browser. */
export const UI_SETTINGS = {
  ui: setting(
    'ui',
    'ADDON_OPERATOR_UI',
    wordType(['off', 'loopback']),
    'off',
    'Serve a page about the operator: off, loopback (to this machine or pod; "addon-operator ui" prints the address).',
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
    'Allow users of the page to act, such as to retry, run, pause and roll back modules and to end hooks; otherwise the page only reads.',
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
  uiAuth: setting(
    'ui-auth',
    'ADDON_OPERATOR_UI_AUTH',
    wordType(['token', 'kubernetes', 'proxy']),
    'token',
    'Who may use the page: token (clients with the token in its address), kubernetes (users with a token of the cluster), proxy (users that an authenticating proxy names). With the last two, RBAC decides what a user may read and do.',
  ),
  uiTokenAudiences: setting(
    'ui-token-audiences',
    'ADDON_OPERATOR_UI_TOKEN_AUDIENCES',
    listType(',', 'list'),
    '',
    'With --ui-auth kubernetes: audiences of which a token must have one; empty: those of the API server.',
  ),
  // Credentials are compared with its content, so that a secret can be replaced without a restart.
  uiProxySecretFile: secret(
    setting(
      'ui-proxy-secret-file',
      'ADDON_OPERATOR_UI_PROXY_SECRET_FILE',
      textType,
      '',
      'With --ui-auth proxy: file with the secret that the proxy sends, at least 16 characters; read again for each request.',
    ),
  ),
  uiProxySecretHeader: setting(
    'ui-proxy-secret-header',
    'ADDON_OPERATOR_UI_PROXY_SECRET_HEADER',
    headerNameType,
    'X-Addon-Operator-Proxy-Secret',
    'Header with the secret of the proxy.',
  ),
  uiProxyAddresses: setting(
    'ui-proxy-addresses',
    'ADDON_OPERATOR_UI_PROXY_ADDRESSES',
    networksType,
    '127.0.0.1/32,::1/128',
    'Networks of the proxy; requests from others are refused.',
  ),
  uiProxyUserHeader: setting(
    'ui-proxy-user-header',
    'ADDON_OPERATOR_UI_PROXY_USER_HEADER',
    headerNameType,
    'X-Forwarded-User',
    'Header with the name of the user, as RBAC has it.',
  ),
  uiProxyGroupsHeader: setting(
    'ui-proxy-groups-header',
    'ADDON_OPERATOR_UI_PROXY_GROUPS_HEADER',
    headerNameType,
    'X-Forwarded-Groups',
    'Header with the groups of the user, separated by commas.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type UiSettings = SettingsOf<typeof UI_SETTINGS>;

/** Settings of the page that contradict each other, one sentence each: credentials of a mode that is not on would be ignored. */
export function uiProblems({ uiAuth, uiProxySecretFile, uiTokenAudiences }: UiSettings): string[] {
  const problems: string[] = [];
  if (uiAuth === 'proxy' && uiProxySecretFile === '')
    problems.push(
      '--ui-auth proxy (ADDON_OPERATOR_UI_AUTH) needs --ui-proxy-secret-file (ADDON_OPERATOR_UI_PROXY_SECRET_FILE): otherwise any client could name a user',
    );
  if (uiAuth !== 'proxy' && uiProxySecretFile !== '')
    problems.push(`--ui-proxy-secret-file needs --ui-auth proxy, which is ${uiAuth}`);
  if (uiAuth !== 'kubernetes' && uiTokenAudiences.length > 0)
    problems.push(`--ui-token-audiences needs --ui-auth kubernetes, which is ${uiAuth}`);
  return problems;
}
