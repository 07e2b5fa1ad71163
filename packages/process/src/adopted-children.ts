import { openSync, readdirSync, readSync } from 'node:fs';
import { constants } from 'node:os';
import type { SteadyClock } from '@addon-operator/base/clock';
import type { EscapedChildren } from './escaped-children.ts';
import { EscapedByRun } from './escaped-processes.ts';
import type { Chore } from './poll-loop.ts';
import { livingProcess, parentOf } from './process-alive.ts';
import type { EscapedProcesses } from './process-runner.ts';
import { runOfProcess } from './run-marker.ts';

/**
 * A process in uninterruptible sleep does not die of SIGKILL; the end of its run is not delayed longer than
 * this.
 */
const LONGEST_END_MS = 1_000;
const LOOK_MS = 2;
/** Interval for reaping orphans that end by themselves while their run continues. */
const REAP_MS = 250;
const LIST_BYTES = 4_096;

/** The calls of the C library for adopted children. */
export interface ChildCalls {
  /** Whether there is any child, dead ones included. */
  hasChildren(): boolean;
  /** Whether there is a dead child that is not reaped. */
  hasDeadChild(): boolean;
  /** Whether this child was dead; it is reaped then, and its number free. */
  reapIfExited(pid: number): boolean;
  kill(pid: number, signalNumber: number): void;
}

export interface AdoptedChildrenOptions {
  readonly calls: ChildCalls;
  readonly clock: SteadyClock;
  readonly launcherId: string;
  /** Running processes that were started here, by their run; they are reaped elsewhere. */
  readonly running: ReadonlyMap<number, { readonly pid: number }>;
  /** Called with killed processes that belong to no run that is running or ending. */
  readonly onStrays: (strays: EscapedProcesses) => void;
}

/**
 * The orphans of runs in a process that adopts them (a "child subreaper"). They are ours until they are reaped here, so
 * none of their numbers can be that of a stranger, and dead ones must be reaped. A marker in their environment names their
 * run; one without it is killed when nothing runs.
 */
export class AdoptedChildren implements EscapedChildren, Chore {
  readonly #options: AdoptedChildrenOptions;
  /** Sent SIGKILL and not reaped yet, with their run: a dying process has no environment any more. */
  readonly #dying = new Map<number, number | undefined>();
  /** Replacing their program: their run is read a moment later. */
  readonly #unknown = new Set<number>();
  readonly #waiting = new Map<number, AbortController>();
  /** Of runs whose process has been reaped, while what they left is being killed. */
  readonly #endingGroups = new Map<number, number>();
  readonly #escaped = new EscapedByRun();
  readonly #childPids = childLister();
  #isEnding = false;
  #lookedAtMs = 0;

  constructor(options: AdoptedChildrenOptions) {
    this.#options = options;
  }

  dueMs(): number | undefined {
    const isUrgent = this.#dying.size > 0 || this.#unknown.size > 0;
    if (!isUrgent && this.#options.running.size === 0) return undefined;
    return this.#lookedAtMs + (isUrgent ? LOOK_MS : REAP_MS);
  }

  act(): void {
    this.#lookedAtMs = this.#options.clock.steadyMs();
    if (this.#unknown.size > 0 || this.#options.calls.hasDeadChild()) this.#sweep();
  }

  endRun(run: number, group: number, onGone: (escaped: EscapedProcesses | undefined) => void): void {
    this.#endingGroups.set(run, group);
    this.#sweep();
    const end = (): void => {
      this.#endingGroups.delete(run);
      onGone(this.#escaped.take(run));
    };
    if (!this.#isEndingOf(run)) return end();
    const gone = new AbortController();
    gone.signal.addEventListener('abort', end, { once: true });
    this.#waiting.set(run, gone);
    this.#options.clock.sleep(LONGEST_END_MS, gone.signal).then(
      () => this.#stopWaiting(run),
      () => undefined,
    );
  }

  endAll(): void {
    this.#isEnding = true;
    this.#sweep();
  }

  endWithLauncher(): void {
    const { calls, clock } = this.#options;
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const latestMs = clock.steadyMs() + LONGEST_END_MS;
    // Nothing is signalled by its number after this, so those that were started here are reaped along with the others.
    while (calls.hasChildren() && clock.steadyMs() < latestMs) {
      for (const pid of this.#childPids())
        if (!calls.reapIfExited(pid)) calls.kill(pid, constants.signals.SIGKILL);
      Atomics.wait(pause, 0, 0, LOOK_MS);
    }
  }

  /** Reaps dead children and kills living ones whose run has ended. */
  #sweep(): void {
    const { calls, running } = this.#options;
    if (!calls.hasChildren()) return;
    const known = new Set<number>();
    for (const { pid } of running.values()) known.add(pid);
    // A child that died after it was listed has left its own children here: they belong to the same run.
    for (let isReaped = true; isReaped; ) {
      isReaped = false;
      for (const pid of this.#childPids()) {
        if (known.has(pid)) continue;
        if (calls.reapIfExited(pid)) {
          this.#dying.delete(pid);
          this.#unknown.delete(pid);
          isReaped = true;
        } else if (!this.#dying.has(pid)) this.#killEnded(pid, known);
      }
    }
    const strays = this.#escaped.take(undefined);
    if (strays !== undefined) this.#options.onStrays(strays);
    for (const run of this.#waiting.keys()) if (!this.#isEndingOf(run)) this.#stopWaiting(run);
  }

  /** Kills a child whose run has ended, or that belongs to no run while nothing runs. */
  #killEnded(pid: number, runningPids: ReadonlySet<number>): void {
    const { calls, launcherId, running } = this.#options;
    const read = runOfProcess(pid, launcherId);
    const run = read === 'unknown' ? undefined : read;
    if (read === 'unknown' && !this.#isEnding) {
      this.#unknown.add(pid);
      return;
    }
    this.#unknown.delete(pid);
    const isEnded = run === undefined ? running.size === 0 : !running.has(run);
    if (!isEnded && !this.#isEnding) return;
    const groups = new Set([...runningPids, ...this.#endingGroups.values()]);
    const isReported = run !== undefined && (running.has(run) || this.#endingGroups.has(run));
    this.#escaped.add(isReported ? run : undefined, livingProcess(pid), groups);
    this.#dying.set(pid, run);
    calls.kill(pid, constants.signals.SIGKILL);
  }

  /** Whether something of the run is dying, or may turn out to be of the run. */
  #isEndingOf(run: number): boolean {
    if (this.#unknown.size > 0) return true;
    for (const other of this.#dying.values()) if (other === run) return true;
    return false;
  }

  /** Reports the end of a run. */
  #stopWaiting(run: number): void {
    const gone = this.#waiting.get(run);
    this.#waiting.delete(run);
    gone?.abort();
  }
}

/** Lists the children of this process, dead ones included. */
function childLister(): () => number[] {
  const buffer = Buffer.allocUnsafe(LIST_BYTES);
  try {
    // All are children of the main thread: it starts them, and it adopts them.
    const fd = openSync(`/proc/self/task/${process.pid}/children`, 'r');
    return () => pidsIn(readList(fd, buffer));
  } catch {
    // A kernel built without this file.
    return () => pidsIn(readdirSync('/proc').join(' ')).filter((pid) => parentOf(pid) === process.pid);
  }
}

/** Through a descriptor that stays open: a system call or two instead of five. */
function readList(fd: number, buffer: Buffer): string {
  let list = '';
  for (let bytes = 1; bytes > 0; ) {
    bytes = readSync(fd, buffer, 0, buffer.length, list.length);
    list += buffer.toString('latin1', 0, bytes);
  }
  return list;
}

function pidsIn(list: string): number[] {
  return list
    .split(' ')
    .filter((word) => /^\d+$/.test(word))
    .map(Number);
}
