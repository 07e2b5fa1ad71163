import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { SteadyClock } from '@addon-operator/base/clock';
import { BoundedLogOutput, type TryWrite } from './bounded-log-output.ts';

const STDOUT = 1;

/** Standard output. The process never blocks on it, whether or not it is read: see {@link BoundedLogOutput}. */
export function stdoutLogOutput(clock: SteadyClock): BoundedLogOutput {
  let tryWrite: TryWrite | undefined;
  return new BoundedLogOutput((bytes) => {
    tryWrite ??= nonBlockingWrite();
    return tryWrite(bytes);
  }, clock);
}

/** EAGAIN means that the pipe is full, which counts as nothing written. */
function nonBlockingWrite(): TryWrite {
  const target = openNonBlocking();
  return (bytes) => {
    try {
      return writeSync(target.fd, bytes);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0;
      throw error;
    }
  };
}

interface Target {
  readonly fd: number;
  /** Kept as long as the descriptor is used: it closes it otherwise. */
  readonly socket?: Socket;
}

/** A descriptor whose writes fail with EAGAIN where they would block; a file takes every write at once. */
function openNonBlocking(): Target {
  const stats = fstatSync(STDOUT);
  if (stats.isFile()) return { fd: STDOUT };
  try {
    // Opened anew: the mode belongs to what was opened, and other processes may share ours.
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
    return { fd: openSync(`/proc/self/fd/${STDOUT}`, flags) };
  } catch {
    // A socket, a pipe of another user, or a system without /proc: Node makes what it opens as a Socket non-blocking.
    if (!stats.isFIFO() && !stats.isSocket()) return { fd: STDOUT };
    return { fd: STDOUT, socket: new Socket({ fd: STDOUT, readable: false }) };
  }
}
