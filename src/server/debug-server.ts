import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { messageOf, OperatorError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { type DebugEndpoint, debugHandler } from './debug-routes.ts';
import { type RequestHandler, type RunningServer, serve } from './serve.ts';

const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;
const NO_ACCESS_FOR_OTHERS = 0o177;

/**
 * The debug endpoint on a unix socket that only our user may open. A socket file that nobody answers on is replaced;
 * stopping removes the file.
 *
 * @throws OperatorError DEBUG_SOCKET when another process answers there, the path holds something else, or the system
 * refuses
 */
export async function startDebugServer(
  socketPath: string,
  endpoint: DebugEndpoint,
  log: Logger,
): Promise<RunningServer> {
  try {
    await mkdir(dirname(socketPath), { recursive: true, mode: PRIVATE_DIRECTORY });
    await removeStaleSocket(socketPath);
    const server = await servePrivately(socketPath, debugHandler(endpoint, false), log);
    await chmod(socketPath, PRIVATE_FILE);
    return server;
  } catch (error) {
    throw new OperatorError(
      'DEBUG_SOCKET',
      `Cannot open the debug socket ${socketPath} (--debug-unix-socket): ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

/**
 * The debug endpoint on TCP, without authentication and therefore read only.
 *
 * @param address `host:port`
 * @throws OperatorError DEBUG_SOCKET when the address is wrong or in use
 */
export async function startDebugTcpServer(
  address: string,
  endpoint: DebugEndpoint,
  log: Logger,
): Promise<RunningServer> {
  try {
    const [, host, port] = /^\[?(.*?)\]?:(\d{1,5})$/.exec(address) ?? [];
    if (port === undefined) throw new Error('use host:port');
    return await serve({ host: host || '0.0.0.0', port: Number(port) }, debugHandler(endpoint, true), log);
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

/** Of a path that is too long the system only says that an argument is invalid. */
function reasonOf(error: unknown): string {
  const isTooLong = error instanceof Error && 'code' in error && error.code === 'EINVAL';
  return isTooLong
    ? 'its path is longer than that of a socket may be (107 bytes, on macOS 103)'
    : messageOf(error);
}

async function removeStaleSocket(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return;
  if (!stats.isSocket()) throw new Error('the path exists and is no socket, remove it or choose another');
  if (await isAnswered(path)) throw new Error('another running process uses it');
  await rm(path, { force: true });
}

async function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const connection = createConnection(path);
  connection.once('connect', () => resolve(true));
  connection.once('error', (error) => resolve(!('code' in error && error.code === 'ECONNREFUSED')));
  const isTaken = await promise;
  connection.destroy();
  return isTaken;
}
