import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import type { SteadyClock } from '@addon-operator/base/clock';

const { O_WRONLY, O_NONBLOCK } = constants;
/** A process that has just been started needs some 50 ms until it reads. */
const READER_POLL_MS = 2;

/**
 * Writes a text to a named pipe once a reader has opened it: written before, it would be lost.
 *
 * @throws `signal.reason` when the signal aborts, as it has to when the reader has ended; EPIPE when the reader closes the pipe before it has
 * read everything
 */
export async function writeToReader(
  path: string,
  text: string,
  clock: SteadyClock,
  signal: AbortSignal,
): Promise<void> {
  let fd = openForReader(path);
  while (fd === undefined) {
    await clock.sleep(READER_POLL_MS, signal);
    fd = openForReader(path);
  }
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.end(text);
  await finished(socket, { readable: false, signal });
}

/** Undefined while there is no reader; never waits. */
function openForReader(path: string): number | undefined {
  try {
    return openSync(path, O_WRONLY | O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENXIO') return undefined;
    throw error;
  }
}
