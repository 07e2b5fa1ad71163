import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SandboxError } from './sandbox-error.ts';

/** A claim on a directory, which ends with this process at the latest. */
export interface DirectoryLock {
  /** The socket that holds the claim. */
  readonly path: string;
  release(): Promise<void>;
}

/**
 * Claims a directory, which is made if it is missing, for this process alone. The claim is a listening socket: unlike a
 * file with a process number it cannot outlive its owner. On Linux the socket has a name and no file.
 *
 * @param platform default: that of this process
 * @throws SandboxError when a living process has the directory
 */
export async function lockDirectory(
  directory: string,
  platform: string = process.platform,
): Promise<DirectoryLock> {
  mkdirSync(directory, { recursive: true });
  const name = createHash('sha256').update(realpathSync(directory)).digest('hex').slice(0, 24);
  const path =
    platform === 'linux' ? `\0addon-operator-sandbox-${name}` : join(tmpdir(), `sandbox-${name}.sock`);
  const lock = (await listenOn(path)) ?? (await takeOver(path));
  if (lock !== undefined) return lock;
  throw new SandboxError(
    `Cannot use ${directory} for the sandbox state: another sandbox has it open. Stop that one first`,
  );
}

async function takeOver(path: string): Promise<DirectoryLock | undefined> {
  if (await isResponded(path)) return undefined;
  rmSync(path, { force: true });
  return listenOn(path);
}

/** Undefined when the path is taken. */
async function listenOn(path: string): Promise<DirectoryLock | undefined> {
  const server = createServer((socket) => socket.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  server.once('error', (error) => {
    if ('code' in error && error.code === 'EADDRINUSE') resolve(false);
    else reject(error);
  });
  server.listen(path, () => resolve(true));
  if (!(await promise)) return undefined;
  return {
    path,
    release: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await closed.promise;
    },
  };
}

async function isResponded(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  const isAlive = await promise;
  socket.destroy();
  return isAlive;
}
