/**
 * Listens for debug requests: on a unix socket that only the user of the operator can open, and on TCP with a bearer
 * token. `start-debug.ts` opens both. A socket file left by a killed daemon is replaced, but one that another process
 * still serves is an error: two daemons on one path would take turns.
 */

import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { type RequestHandler, type RunningServer, serve } from '@addon-operator/http-server/serve';
import type { Api } from './api/api.ts';
import { type PeerUid, withAudit, withToken } from './debug-access.ts';
import { type DebugEndpoint, debugHandler } from './debug-routes.ts';
import { socketErrorText } from './socket-error.ts';

const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;
const NO_ACCESS_FOR_OTHERS = 0o177;

/**
 * The debug endpoint on a unix socket that only our user may open. A socket file without a server is replaced;
 * stopping removes the file. Every request that may change something is logged.
 *
 * @throws OperatorError DEBUG_SOCKET when another process answers there, the path holds something else, or the system
 * refuses
 */
export async function startDebugServer(
  socketPath: string,
  endpoint: DebugEndpoint,
  log: Logger,
  peerUid: PeerUid,
  api?: Api,
): Promise<RunningServer> {
  return await startSocketServer(
    socketPath,
    withAudit(debugHandler(endpoint, false, api), peerUid, log),
    log,
  );
}

/** Serves a unix socket that only our user may open. @throws OperatorError DEBUG_SOCKET */
export async function startSocketServer(
  socketPath: string,
  handler: RequestHandler,
  log: Logger,
): Promise<RunningServer> {
  try {
    await mkdir(dirname(socketPath), { recursive: true, mode: PRIVATE_DIRECTORY });
    await removeStaleSocket(socketPath);
    const server = await servePrivately(socketPath, handler, log);
    // The umask has no effect in a directory with default ACLs.
    await chmod(socketPath, PRIVATE_FILE);
    return server;
  } catch (error) {
    throw new OperatorError(
      'DEBUG_SOCKET',
      `Cannot open the debug socket ${socketPath} (--debug-unix-socket): ${socketErrorText(error)}`,
      { cause: error },
    );
  }
}

/**
 * The debug endpoint on TCP, read only and for those who have the token: it shows all values.
 *
 * @param address `host:port`; without a host only this machine can connect
 * @param readToken called for each request, so that a new token counts at once
 * @throws OperatorError DEBUG_SOCKET when the address is wrong or in use, or there is no token
 */
export async function startDebugTcpServer(
  address: string,
  endpoint: DebugEndpoint,
  log: Logger,
  readToken: () => Promise<string>,
  api?: Api,
): Promise<RunningServer> {
  try {
    const [, host, port] = /^\[?(.*?)\]?:(\d{1,5})$/.exec(address) ?? [];
    if (port === undefined) throw new Error('use host:port');
    // A missing token file fails the start instead of every request.
    await readToken();
    const handler = withToken(debugHandler(endpoint, true, api), readToken, log);
    return await serve({ host: host || '127.0.0.1', port: Number(port) }, handler, log);
  } catch (error) {
    throw new OperatorError(
      'DEBUG_SOCKET',
      `Cannot open the debug endpoint on "${address}" (--debug-http-addr): ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Binding happens within the call, so the narrow umask covers it and nothing else. */
async function servePrivately(path: string, handler: RequestHandler, log: Logger): Promise<RunningServer> {
  const previous = process.umask(NO_ACCESS_FOR_OTHERS);
  let starting: Promise<RunningServer>;
  try {
    starting = serve({ path }, handler, log);
  } finally {
    process.umask(previous);
  }
  return await starting;
}

/** @throws Error when the path is in use, by a process or by something that is not a socket */
async function removeStaleSocket(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return;
  if (!stats.isSocket())
    throw new Error('the path exists and is not a socket: remove it or choose another path');
  if (await isResponded(path)) throw new Error('another running process uses it');
  await rm(path, { force: true });
}

/** Whether a process accepts connections there. Only a refused connection proves that none does. */
async function isResponded(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const connection = createConnection(path);
  connection.once('connect', () => resolve(true));
  connection.once('error', (error) => resolve(!('code' in error && error.code === 'ECONNREFUSED')));
  const isTaken = await promise;
  connection.destroy();
  return isTaken;
}
