// Runs hooks and extensions written in TypeScript or JavaScript in threads. `load` loads a file in a new
// thread; `do` runs a piece of work in an idle thread of that file or a new one, at most four at a time. All
// threads share one process (`host-process.ts`), so that a script cannot take the daemon down. If that
// process dies while several files were working, each of them is repeated in a process of its own, where only
// the culprit fails again. Idle threads end after ten minutes.

import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import type { RunDeadline } from '@addon-operator/process/run-deadline';
import PQueue from 'p-queue';
import { HostProcess, type HostProcessOptions } from './host-process.ts';
import type { WorkRequest } from './host-protocol.ts';
import {
  type Script,
  ScriptWorker,
  type WorkEvents,
  type WorkerResponse,
  type WorkLimits,
} from './script-worker.ts';

/** How many pieces of work of one file may run at the same time; further ones wait. */
const MAX_WORKERS_PER_FILE = 4;
/** Between the abort of the signal of a piece of work and the end of its thread. */
const GRACE_MS = 1_000;
/** A worker that has nothing to do for this long is ended; the next piece of work starts another one. */
const IDLE_MS = 600_000;

/** Of the limit of the heap, which is that of one thread, buffers may use as much again. */
export interface WorkerPoolsOptions extends HostProcessOptions {
  readonly clock: SteadyClock;
  /**
   * Called when the process of all scripts is gone while several worked, for each of them: it is repeated in a process of its
   * own then.
   */
  readonly onSharedFailure: (path: string, reason: string) => void;
}

/** Limits and callbacks of loading a file, or of a piece of work. */
interface Work extends WorkEvents {
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Whether it may be done once more, because the process died and another one may be to blame. Default: yes. */
  readonly canRepeat?: () => boolean;
}

/** The threads and the state of one file. */
interface Pool {
  readonly script: Script;
  readonly turns: PQueue;
  readonly idle: { readonly worker: ScriptWorker; readonly sinceMs: number }[];
  /** It brought down the process it shares with others: it gets one of its own until it does its work. */
  isIsolated: boolean;
}

/** Files that are loaded in threads and do pieces of work there, all in a process that they share. */
export class WorkerPools {
  readonly #options: WorkerPoolsOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #hosts = new Set<HostProcess>();
  readonly #stopped = new AbortController();
  #shared: HostProcess | undefined;
  #deadline: RunDeadline | undefined;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(options: WorkerPoolsOptions) {
    this.#options = options;
  }

  /**
   * Loads a file anew. Work under way keeps the old one, and so does all work if the result is not `ready`.
   *
   * @throws `signal.reason` on abort
   */
  load(script: Script, work: Work, signal: AbortSignal): Promise<WorkerResponse> {
    const turns = new PQueue({ concurrency: MAX_WORKERS_PER_FILE });
    const pool: Pool = { script, idle: [], turns, isIsolated: false };
    return this.#withHost(pool, work, async (host) => {
      const worker = new ScriptWorker(host, script);
      let loaded: WorkerResponse | undefined;
      try {
        loaded = await worker.load(this.#limits(work.timeoutMs), work, signal);
        if (loaded.type === 'ready') this.#replace(pool);
        return loaded;
      } finally {
        this.#release(pool, worker, loaded);
      }
    });
  }

  /**
   * Does a piece of work, in a thread of the file at `path`.
   *
   * @throws OperatorError INTERNAL when that was never loaded
   * @throws `signal.reason` on abort, once the work has come to its end
   */
  async do(path: string, request: WorkRequest, work: Work, signal: AbortSignal): Promise<WorkerResponse> {
    const pool = this.#pools.get(path);
    if (pool === undefined) throw new OperatorError('INTERNAL', `${path} is run before it was loaded`);
    return pool.turns.add(() =>
      this.#withHost(pool, work, (host) => this.#doOn(host, pool, request, work, signal)),
    );
  }

  /** At the first moment all work is requested to end, at the second it is killed, even if this process is gone. */
  setDeadline(deadline: RunDeadline): void {
    this.#deadline = deadline;
    for (const host of this.#hosts) host.send({ type: 'deadline', deadline });
  }

  /**
   * Ends all workers; resolves when they are gone.
   *
   * @param reason the error of work in progress
   */
  async stop(reason: string): Promise<void> {
    this.#stopped.abort();
    await this.#sweeping;
    await Promise.all([...this.#hosts].map((host) => host.kill(reason)));
  }

  /** One piece of work in a process. The time to load the file counts against its limit. */
  async #doOn(
    host: HostProcess,
    pool: Pool,
    request: WorkRequest,
    work: Work,
    signal: AbortSignal,
  ): Promise<WorkerResponse> {
    // It may have waited for others: a worker is neither made nor ended for it.
    signal.throwIfAborted();
    const idle = host === this.#shared ? takeIdle(pool) : undefined;
    const worker = idle ?? new ScriptWorker(host, pool.script);
    let leftMs = work.timeoutMs;
    let response: WorkerResponse | undefined;
    try {
      if (idle === undefined) {
        const { clock } = this.#options;
        const startedMs = clock.steadyMs();
        const loaded = await worker.load(this.#limits(leftMs), work, signal);
        if (loaded.type !== 'ready') return loaded;
        // The wall clock may be set back in the meantime.
        if (leftMs !== undefined) leftMs = Math.max(0, leftMs - (clock.steadyMs() - startedMs));
      }
      response = await worker.work(request, this.#limits(leftMs), work, signal);
      return response;
    } finally {
      this.#release(pool, worker, response);
    }
  }

  /**
   * Does something in the shared process. When that dies and the culprit is not certain, it is done again in a process
   * of its own: nothing of it has been applied, and only the culprit fails there too.
   */
  async #withHost(
    pool: Pool,
    { canRepeat }: Work,
    act: (host: HostProcess) => Promise<WorkerResponse>,
  ): Promise<WorkerResponse> {
    if (!pool.isIsolated) {
      const response = await act(this.#sharedHost());
      if (response.type !== 'host-gone') return response;
      pool.isIsolated = true;
      if (response.wasAlone || this.#stopped.signal.aborted || canRepeat?.() === false) return response;
      this.#options.onSharedFailure(pool.script.path, response.reason);
    }
    const host = this.#startHost();
    try {
      const response = await act(host);
      if (response.type === 'ready' || response.type === 'done' || response.type === 'returned')
        pool.isIsolated = false;
      return response;
    } finally {
      await host.kill('it is no longer needed');
    }
  }

  /** The process that all files share; a new one if the last is ending. */
  #sharedHost(): HostProcess {
    if (this.#shared === undefined || this.#shared.isEnding) this.#shared = this.#startHost();
    return this.#shared;
  }

  /** Starts a process, with the deadline that is set at the moment. */
  #startHost(): HostProcess {
    for (const host of this.#hosts) if (host.isGone) this.#hosts.delete(host);
    const host = new HostProcess(this.#options);
    this.#hosts.add(host);
    if (this.#deadline !== undefined) host.send({ type: 'deadline', deadline: this.#deadline });
    return host;
  }

  /** From now on a file is what was just loaded. */
  #replace(pool: Pool): void {
    const { path } = pool.script;
    const before = this.#pools.get(path);
    for (const { worker } of before?.idle.splice(0) ?? []) worker.end();
    if (this.#pools.size === 0) this.#sweeping = this.#sweep();
    this.#pools.set(path, pool);
  }

  /** Keeps a worker for the next piece of work, unless something of this one would continue in it. */
  #release(pool: Pool, worker: ScriptWorker, response: WorkerResponse | undefined): void {
    const isPooled = !pool.isIsolated && this.#pools.get(pool.script.path) === pool;
    if (isPooled && !worker.isGone && this.#isSound(response))
      pool.idle.push({ worker, sinceMs: this.#options.clock.steadyMs() });
    else worker.end();
  }

  /**
   * Whether a thread can be used again: nothing of the last work is still scheduled, and it has not grown too
   * large.
   */
  #isSound(response: WorkerResponse | undefined): boolean {
    if (response === undefined || !('leakedTimers' in response)) return response?.type === 'ready';
    return response.leakedTimers === 0 && response.memoryBytes < 2 * this.#options.heapLimitBytes;
  }

  #limits(timeoutMs: number | undefined): WorkLimits {
    return { timeoutMs, graceMs: GRACE_MS, clock: this.#options.clock };
  }

  /** Ends workers that have had nothing to do for long: files of disabled modules have none in the end. */
  async #sweep(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await clock.sleep(IDLE_MS / 2, signal).catch(() => undefined);
      const limitMs = clock.steadyMs() - IDLE_MS;
      for (const { idle } of this.#pools.values()) {
        const old = idle.filter(({ sinceMs }) => sinceMs < limitMs);
        for (const entry of old) {
          idle.splice(idle.indexOf(entry), 1);
          entry.worker.end();
        }
      }
    }
  }
}

/** The thread that was used last: its code is most likely still in memory. */
function takeIdle({ idle }: Pool): ScriptWorker | undefined {
  for (let entry = idle.pop(); entry !== undefined; entry = idle.pop()) {
    if (!entry.worker.isGone) return entry.worker;
  }
  return undefined;
}
