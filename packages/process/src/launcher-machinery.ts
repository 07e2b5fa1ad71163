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
import { PollLoop } from './poll-loop.ts';
import type { EscapedProcesses } from './process-runner.ts';
import { RestChore } from './rest-chore.ts';
import type { SpawnedProcess, Spawner } from './spawner.ts';
import { StartReports } from './start-reports.ts';

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
