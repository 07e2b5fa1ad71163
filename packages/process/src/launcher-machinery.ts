// Chooses how the launcher works: with calls of the C library (posix_spawn, poll, child subreaper) on 64-bit
// Linux, or with what Node offers elsewhere. The native way starts a process several times faster, reports
// resource usage and finds escaped children as their parent; if loading it fails, the reason goes to the
// daemon's log and the fallback works.

import { Socket } from 'node:net';
import { type SteadyClock, systemClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { AdoptedChildren } from './adopted-children.ts';
import { returnCodePages } from './code-pages.ts';
import { type EscapedChildren, scannedChildren } from './escaped-children.ts';
import type { LauncherReady } from './launcher-protocol.ts';
import { type Libc, loadLibc } from './native-libc.ts';
import { nativeSpawner } from './native-spawner.ts';
import { nodeSpawner } from './node-spawner.ts';
import { type Chore, PollLoop } from './poll-loop.ts';
import type { EscapedProcesses } from './process-runner.ts';
import type { SpawnedProcess, Spawner } from './spawner.ts';

const CONTROL_FD = 0;
const READ_BYTES = 64 * 1024;

type ReadControl = (onChunk: (chunk: Buffer) => void, onEnd: () => void) => void;

/** By the event loop of Node. */
const readBySocket: ReadControl = (onChunk, onEnd) => {
  const control = new Socket({ fd: CONTROL_FD, readable: true, writable: false });
  control.on('data', onChunk);
  control.on('error', onEnd);
  control.on('end', onEnd);
};

/** Reads requests in the poll loop, which then does all the waiting of the process. */
function readByLoop(libc: Libc, loop: PollLoop): ReadControl {
  return (onChunk, onEnd) => {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    loop.watch(CONTROL_FD, () => {
      const bytes = libc.read(CONTROL_FD, buffer);
      if (bytes > 0) onChunk(buffer.subarray(0, bytes));
      else onEnd();
    });
    returnCodePages(libc);
    loop.start();
  };
}

/** Runs whose process has been started. */
interface RunsToReport {
  add(run: number): void;
  delete(run: number): void;
}

/** The parts of the launcher that differ by platform: native calls, or the means of Node. */
export interface Machinery {
  readonly spawner: Spawner;
  readonly escaped: EscapedChildren;
  readonly ready: LauncherReady;
  readonly clock: SteadyClock;
  /** @param report sends the daemon the process of a run */
  readonly reportStarts: (report: (run: number) => void) => RunsToReport;
  /** Calls back with what the daemon sends, for ever. */
  readonly readControl: ReadControl;
}

/**
 * @param running processes that were started, by their run
 * @param readBuffer takes the output of all processes, one read at a time
 * @param onStrays see {@link AdoptedChildren}
 */
export async function chooseMachinery(
  launcherId: string,
  running: ReadonlyMap<number, SpawnedProcess>,
  readBuffer: Buffer,
  onStrays: (strays: EscapedProcesses) => void,
): Promise<Machinery> {
  const { pid } = process;
  try {
    const libc = await loadLibc();
    const loop = new PollLoop(libc, systemClock);
    // While nothing runs, pages of Node's own code are returned to the system.
    const isBusy = (): boolean => running.size > 0;
    loop.addChore(new RestChore(loop, isBusy, () => returnCodePages(libc)));
    const common = {
      spawner: nativeSpawner(libc, loop, readBuffer),
      ready: { pid },
      clock: loop,
      reportStarts: (report: (run: number) => void) => {
        const starts = new StartReports(loop, report);
        loop.addChore(starts);
        return starts;
      },
      readControl: readByLoop(libc, loop),
    };
    if (!libc.adoptOrphans()) return { ...common, escaped: scannedChildren(launcherId, running) };
    const escaped = new AdoptedChildren({ calls: libc, clock: loop, launcherId, running, onStrays });
    loop.addChore(escaped);
    return { ...common, escaped };
  } catch (error) {
    return {
      spawner: nodeSpawner,
      escaped: scannedChildren(launcherId, running),
      ready: { pid, fallbackReason: messageOf(error) },
      clock: systemClock,
      reportStarts: (report) => ({ add: report, delete: () => undefined }),
      readControl: readBySocket,
    };
  }
}

/** Runs follow each other faster while there is work. */
const REST_MS = 3_000;

/** Calls back once each time nothing has been running for a while. */
export class RestChore implements Chore {
  readonly #clock: SteadyClock;
  readonly #isBusy: () => boolean;
  readonly #onRest: () => void;
  /** Since when nothing runs; undefined: something does, or the call is done. */
  #restsSinceMs: number | undefined;
  #isDone = false;

  constructor(clock: SteadyClock, isBusy: () => boolean, onRest: () => void) {
    this.#clock = clock;
    this.#isBusy = isBusy;
    this.#onRest = onRest;
  }

  dueMs(): number | undefined {
    if (this.#isBusy()) {
      this.#restsSinceMs = undefined;
      this.#isDone = false;
      return undefined;
    }
    if (this.#isDone) return undefined;
    this.#restsSinceMs ??= this.#clock.steadyMs();
    return this.#restsSinceMs + REST_MS;
  }

  act(): void {
    this.#isDone = true;
    this.#onRest();
  }
}

/** Most hooks have ended by then. */
const DELAY_MS = 10;

/**
 * Reports the start of a process only if it still runs after a while: what the report is for, its time limit and its end
 * should the launcher be lost, matters to long runs, and each frame wakes the daemon.
 */
export class StartReports implements Chore {
  readonly #clock: SteadyClock;
  readonly #report: (run: number) => void;
  /** When to report, by run, the earliest first. */
  readonly #dueMs = new Map<number, number>();

  constructor(clock: SteadyClock, report: (run: number) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(run: number): void {
    this.#dueMs.set(run, this.#clock.steadyMs() + DELAY_MS);
  }

  delete(run: number): void {
    this.#dueMs.delete(run);
  }

  dueMs(): number | undefined {
    for (const dueMs of this.#dueMs.values()) return dueMs;
    return undefined;
  }

  act(): void {
    const nowMs = this.#clock.steadyMs();
    for (const [run, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) return;
      this.#dueMs.delete(run);
      this.#report(run);
    }
  }
}
