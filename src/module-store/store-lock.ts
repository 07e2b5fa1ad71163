import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, link, open, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';

/** How often a process looks whether the lock is free, and how long it waits, in milliseconds. */
const POLL_MS = 50;
const LIMIT_MS = 60_000;

const NAME = /^lock-(?<number>\d+)$/u;

/**
 * A lock between the processes that write to one directory. Its holder listens on a socket, so the
 * lock of a process that died is free at once, also where the processes are in different containers
 * of one node. Each holder has a higher number than the one before; the highest number counts, and
 * its file stays until there is a higher one.
 */
export class StoreLock {
  readonly #directory: string;
  readonly #clock: Clock;

  constructor(directory: string, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Runs `act` while no other process holds the lock. @throws errors of the file system, or when the wait takes too long */
  async run<Result>(signal: AbortSignal, act: () => Promise<Result>): Promise<Result> {
    // The path of a socket has at most 107 bytes; this one is short for every directory.
    await using handle = await open(this.#directory, 'r');
    const server = await this.#acquire(handle, signal);
    try {
      return await act();
    } finally {
      await closed(server);
    }
  }

  async #acquire(handle: FileHandle, signal: AbortSignal): Promise<Server> {
    const deadlineMs = this.#clock.steadyMs() + LIMIT_MS;
    for (;;) {
      signal.throwIfAborted();
      const last = Math.max(0, ...(await this.#numbers()));
      if (last > 0 && (await isHeld(`${pathOf(handle)}/lock-${last}`))) {
        if (this.#clock.steadyMs() > deadlineMs)
          throw new Error(`another process has held ${join(this.#directory, `lock-${last}`)} for a minute`);
        await this.#clock.sleep(POLL_MS, signal);
        continue;
      }
      const server = await this.#take(handle, last + 1);
      if (server !== undefined) return server;
    }
  }

  /** Undefined if another process was faster. */
  async #take(handle: FileHandle, number: number): Promise<Server | undefined> {
    const draft = `.lock-${randomUUID()}`;
    const server = createServer((socket) => void socket.destroy());
    server.listen(`${pathOf(handle)}/${draft}`);
    await once(server, 'listening');
    const path = join(this.#directory, `lock-${number}`);
    try {
      // It listens before it has its name, so no process ever finds it silent.
      await link(join(this.#directory, draft), path);
    } catch (error) {
      await closed(server);
      if (hasErrno(error, 'EEXIST')) return undefined;
      throw error;
    } finally {
      await rm(join(this.#directory, draft), { force: true });
    }
    const numbers = await this.#numbers();
    // This process was so slow that its number had been used and removed in the meantime.
    if (numbers.some((other) => other > number)) {
      await rm(path, { force: true });
      await closed(server);
      return undefined;
    }
    for (const other of numbers)
      if (other < number) await rm(join(this.#directory, `lock-${other}`), { force: true });
    return server;
  }

  async #numbers(): Promise<readonly number[]> {
    const names = await readdir(this.#directory);
    return names.flatMap((name) => {
      const number = NAME.exec(name)?.groups?.['number'];
      return number === undefined ? [] : [Number(number)];
    });
  }
}

function pathOf(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

async function isHeld(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    // Refused: its process has died. Missing: there is a newer lock.
    if (hasErrno(error, 'ECONNREFUSED') || hasErrno(error, 'ENOENT')) return false;
    throw error;
  } finally {
    socket.destroy();
  }
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

function hasErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
