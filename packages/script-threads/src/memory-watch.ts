import type { SteadyClock } from '@addon-operator/base/clock';

const CHECK_INTERVAL_MS = 50;
/** Memory of a worker before its script has done anything, with a margin. */
const WORKER_BASE_BYTES = 16 * 1024 * 1024;

/** The record of a worker. */
export interface WatchedWorker {
  readonly isBusy: boolean;
  /** Memory that it reported after its last piece of work; 0 before its first. */
  readonly usedBytes: number;
}

interface MemoryWatchOptions {
  /** How large the heap of one worker may get. */
  readonly heapLimitBytes: number;
  readonly workers: () => Iterable<WatchedWorker>;
  readonly clock: SteadyClock;
  /** Memory that the process uses now. */
  readonly usedBytes: () => number;
  /** Called at each check that finds too much. */
  readonly onOverLimit: (usedBytes: number) => void;
  /** Called when no worker is running. */
  readonly mayStop: () => boolean;
}

/**
 * Watches the memory of a process with workers while some of them are running. V8 limits heaps only: buffers are found
 * here. Together the workers may use what each had after its last run, and in addition a heap for each running worker and one
 * more, which is for buffers.
 */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #baseBytes: number;
  readonly #never = new AbortController().signal;
  #isWatching = false;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
    this.#baseBytes = options.usedBytes();
  }

  /** Begins to watch, until no worker is running any more. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#loop();
  }

  async #loop(): Promise<void> {
    const { clock, usedBytes, workers, onOverLimit, mayStop } = this.#options;
    while ([...workers()].some(({ isBusy }) => isBusy) || !mayStop()) {
      const used = usedBytes();
      if (used > this.#limitBytes()) onOverLimit(used);
      await clock.sleep(CHECK_INTERVAL_MS, this.#never);
    }
    this.#isWatching = false;
  }

  /** The limit at this moment; it grows with every running worker. */
  #limitBytes(): number {
    const { workers, heapLimitBytes } = this.#options;
    const all = [...workers()];
    const known = all.reduce((sum, { usedBytes }) => sum + usedBytes, 0);
    const busy = all.filter(({ isBusy }) => isBusy).length;
    return this.#baseBytes + known + all.length * WORKER_BASE_BYTES + (busy + 1) * heapLimitBytes;
  }
}

const BUSY = 0;
const USED_KIB = 1;
const WATCHED = 0;

/**
 * The shared memory in which a worker records its state for the main thread of its process, which polls it: a message
 * for each run would cost more than a short run.
 */
export interface LedgerBuffers {
  readonly entry: SharedArrayBuffer;
  /** The same for all workers: whether the main thread polls the entries. */
  readonly watched: SharedArrayBuffer;
}

export function createWatchedFlag(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

export function createLedger(watched: SharedArrayBuffer): LedgerBuffers {
  return { entry: new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT), watched };
}

/** The entry of one worker, in either thread. */
export class WorkLedger {
  readonly #entry: Int32Array<SharedArrayBuffer>;
  readonly #watched: Int32Array<SharedArrayBuffer>;

  constructor({ entry, watched }: LedgerBuffers) {
    this.#entry = new Int32Array(entry);
    this.#watched = new Int32Array(watched);
  }

  get isBusy(): boolean {
    return Atomics.load(this.#entry, BUSY) === 1;
  }

  /** Memory of the worker after its last piece of work. */
  get usedBytes(): number {
    return Atomics.load(this.#entry, USED_KIB) * 1_024;
  }

  /** Records that work begins. Returns true if the entries are not polled yet, so that the main thread has to be notified. */
  begin(): boolean {
    Atomics.store(this.#entry, BUSY, 1);
    return beginWatch(this.#watched);
  }

  /** The order matters: the memory is recorded before the worker counts as idle. */
  end(usedBytes: number): void {
    Atomics.store(this.#entry, USED_KIB, Math.ceil(usedBytes / 1_024));
    Atomics.store(this.#entry, BUSY, 0);
  }
}

/** A caller that gets `true` must look at the entries. */
function beginWatch(watched: Int32Array<SharedArrayBuffer>): boolean {
  return Atomics.compareExchange(watched, WATCHED, 0, 1) === 0;
}

/**
 * To be called by the main thread when no worker is busy. Returns whether it may stop polling: false if a worker has
 * begun in the meantime and believes that it is watched.
 */
export function mayStopWatching(watchedFlag: SharedArrayBuffer, ledgers: Iterable<WorkLedger>): boolean {
  const watched = new Int32Array(watchedFlag);
  Atomics.store(watched, WATCHED, 0);
  return ![...ledgers].some(({ isBusy }) => isBusy) || !beginWatch(watched);
}
