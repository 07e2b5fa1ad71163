/**
 * Settings of the debug endpoint and of debugging. The TCP listener needs a token, because its responses contain all
 * values; the socket is protected by file permissions.
 */

import { hidden, type Setting, type SettingsOf, secret, variable } from './setting.ts';
import { booleanType, textType } from './setting-type.ts';

/** Settings of the debug endpoint; only `debug-options` lists their flags. */
export const DEBUG_ENDPOINT_SETTINGS = {
  // All commands that talk to the daemon use it; the address of the page is in a file with the suffix `.ui`.
  debugUnixSocket: hidden(
    'debug-unix-socket',
    ['ADDON_OPERATOR_DEBUG_SOCKET', 'DEBUG_UNIX_SOCKET'],
    textType,
    '/var/run/addon-operator/debug.socket',
    'Path of the debug socket.',
  ),
  debugHttpAddress: hidden(
    'debug-http-addr',
    'DEBUG_HTTP_SERVER_ADDR',
    textType,
    '',
    'host:port for the read-only debug endpoint on TCP; default host 127.0.0.1. Requires a token.',
  ),
  // The file wins over the variable, and is read for each request.
  debugHttpTokenFile: secret(
    hidden(
      'debug-http-token-file',
      'DEBUG_HTTP_TOKEN_FILE',
      textType,
      '',
      'File with the bearer token of the debug endpoint on TCP; read again for each request.',
    ),
  ),
  debugHttpToken: secret(
    variable(
      'DEBUG_HTTP_TOKEN',
      textType,
      '',
      'The bearer token of the debug endpoint on TCP, if it is not in a file.',
    ),
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type DebugEndpointSettings = SettingsOf<typeof DEBUG_ENDPOINT_SETTINGS>;

/** Settings for debugging; only `debug-options` lists their flags. */
export const DEBUG_SETTINGS = {
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
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type DebugSettings = SettingsOf<typeof DEBUG_SETTINGS>;

/** Missing settings of the debug endpoint on TCP, one sentence each. */
export function debugProblems(settings: DebugEndpointSettings): string[] {
  if (settings.debugHttpAddress === '') return [];
  if (settings.debugHttpTokenFile !== '' || settings.debugHttpToken !== '') return [];
  return [
    '--debug-http-addr (DEBUG_HTTP_SERVER_ADDR) needs --debug-http-token-file (DEBUG_HTTP_TOKEN_FILE): the endpoint shows all values',
  ];
}
