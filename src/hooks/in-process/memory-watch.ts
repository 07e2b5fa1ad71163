import type { SteadyClock } from '../../lib/clock.ts';

const CHECK_INTERVAL_MS = 50;
/** What a worker needs before its hook has done anything, with a margin. */
const WORKER_BASE_BYTES = 16 * 1024 * 1024;

/** What is known of a worker. */
export interface WatchedWorker {
  readonly isBusy: boolean;
  /** What it used, by its own account, after its last piece of work; 0 before its first. */
  readonly usedBytes: number;
}

interface MemoryWatchOptions {
  /** How large the heap of one worker may get. */
  readonly heapLimitBytes: number;
  readonly workers: () => Iterable<WatchedWorker>;
  readonly clock: SteadyClock;
  /** What the process uses now. */
  readonly usedBytes: () => number;
  /** Called at each check that finds too much. */
  readonly onOverLimit: (usedBytes: number) => void;
  /** Asked when nobody is at work. */
  readonly mayStop: () => boolean;
}

/**
 * Watches the memory of a process with workers while some of them are at work. V8 limits heaps only: buffers are found
 * here. Together the workers may use what each had after its last run, and in addition a heap for each at work and one
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

  /** Begins to watch, until nobody is at work any more. */
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

  #limitBytes(): number {
    const { workers, heapLimitBytes } = this.#options;
    const all = [...workers()];
    const known = all.reduce((sum, { usedBytes }) => sum + usedBytes, 0);
    const busy = all.filter(({ isBusy }) => isBusy).length;
    return this.#baseBytes + known + all.length * WORKER_BASE_BYTES + (busy + 1) * heapLimitBytes;
  }
}
