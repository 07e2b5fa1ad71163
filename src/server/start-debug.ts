/**
 * Opens the debug endpoints of a process. A standby and an operator that starts have only a status to show
 * (`startStatusSocket`); once the operator is built, `startDebug` serves everything. All servers are entered into
 * `running` and end with it.
 */

import { readFile } from 'node:fs/promises';
import { messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { errorResponse, redactedResponse } from '@addon-operator/http-server/response';
import type { RequestHandler, RunningServer } from '@addon-operator/http-server/serve';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { DebugEndpointSettings } from '../settings/debug-settings.ts';
import type { OperatorStatus } from '../status/operator-status.ts';
import type { Api } from './api/api.ts';
import { type PeerUid, withAudit } from './debug-access.ts';
import type { DebugEndpoint } from './debug-routes.ts';
import { startDebugServer, startDebugTcpServer, startSocketServer } from './debug-server.ts';
import { statusResponse } from './probe-responses.ts';

export interface DebugOptions {
  readonly settings: DebugEndpointSettings;
  readonly endpoint: DebugEndpoint;
  readonly api: Api;
  readonly peerUid: PeerUid;
  readonly log: Logger;
  /** Resources that must be closed are added here. */
  readonly running: AsyncDisposableStack;
}

/** Opens the debug socket, and the debug endpoint on TCP where the settings name an address. */
export async function startDebug(options: DebugOptions): Promise<void> {
  const { settings, endpoint, api, peerUid, log, running } = options;
  const socket = await startDebugServer(settings.debugUnixSocket, endpoint, log, peerUid, api);
  running.defer(() => socket.stop());
  // The socket is always there, since every command of the CLI uses it. TCP is on request.
  if (settings.debugHttpAddress === '') return;
  const readToken = tokenReader(settings);
  const server = await startDebugTcpServer(settings.debugHttpAddress, endpoint, log, readToken, api);
  running.defer(() => server.stop());
  log.info({ address: settings.debugHttpAddress }, 'debug endpoint listens on TCP, read only');
}

const FORMATS = ['text', 'json', 'yaml'] as const;

/** Opens the debug socket while there is nothing but a status to show. @throws OperatorError DEBUG_SOCKET */
export async function startStatusSocket({
  settings,
  status,
  redactor,
  peerUid,
  log,
}: Pick<DebugOptions, 'peerUid' | 'log'> & {
  readonly settings: Pick<DebugEndpointSettings, 'debugUnixSocket'>;
  readonly status: () => OperatorStatus;
  readonly redactor: Redactor;
}): Promise<RunningServer> {
  const handler: RequestHandler = async ({ path }) => {
    const format = FORMATS.find((known) => path === `/status.${known}`);
    const shown = status();
    const response =
      format === undefined
        ? errorResponse(503, 'REQUEST_REFUSED', shown.text)
        : statusResponse(shown, format);
    return await Promise.resolve(redactedResponse(response, redactor));
  };
  return await startSocketServer(settings.debugUnixSocket, withAudit(handler, peerUid, log), log);
}

/** Reads the token of the debug endpoint: from its file where one is named, else the token itself is set. */
function tokenReader({
  debugHttpTokenFile: path,
  debugHttpToken,
}: Pick<DebugEndpointSettings, 'debugHttpTokenFile' | 'debugHttpToken'>): () => Promise<string> {
  return async () => {
    if (path === '') return debugHttpToken;
    const content = await readFile(path, 'utf8').catch((cause: unknown) => {
      throw new Error(`the token file ${path} cannot be read: ${messageOf(cause)}`, { cause });
    });
    const token = content.trim();
    if (token === '') throw new Error(`the token file ${path} is empty: write a random token into it`);
    return token;
  };
}
