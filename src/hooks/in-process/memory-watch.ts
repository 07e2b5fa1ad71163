import type { Clock } from '../../lib/clock.ts';

const CHECK_INTERVAL_MS = 50;
/** What a worker needs before its hook has done anything, with a margin. */
const WORKER_BASE_BYTES = 16 * 1024 * 1024;

export interface MemoryWatchOptions {
  /** How large the heap of one worker may get. */
  readonly heapLimitBytes: number;
  /** Workers that are at work. */
  readonly busy: ReadonlySet<number>;
  readonly clock: Clock;
  /** What the process uses now. */
  readonly usedBytes: () => number;
  /** Called at each check that finds too much. */
  readonly onOverLimit: (usedBytes: number) => void;
}

/**
 * Watches the memory of a process with workers while some of them are at work. V8 limits heaps only: buffers are found
 * here. Together the workers may use what each had after its last run, and in addition a heap for each at work and one
 * more, which is for buffers.
 */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #baseBytes: number;
  readonly #knownBytes = new Map<number, number>();
  readonly #never = new AbortController().signal;
  #isWatching = false;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
    this.#baseBytes = options.usedBytes();
  }

  /** What a worker uses, by its own account after a run. */
  note(worker: number, memoryBytes: number): void {
    this.#knownBytes.set(worker, memoryBytes);
  }

  forget(worker: number): void {
    this.#knownBytes.delete(worker);
  }

  /** Begins to watch, until nobody is at work any more. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#loop();
  }

  async #loop(): Promise<void> {
    const { busy, clock, usedBytes, onOverLimit } = this.#options;
    while (busy.size > 0) {
      const used = usedBytes();
      if (used > this.#limitBytes()) onOverLimit(used);
      await clock.sleep(CHECK_INTERVAL_MS, this.#never);
    }
    this.#isWatching = false;
  }

  #limitBytes(): number {
    const { busy, heapLimitBytes } = this.#options;
    const workers = new Set([...busy, ...this.#knownBytes.keys()]);
    const known = [...this.#knownBytes.values()].reduce((sum, bytes) => sum + bytes, 0);
    return this.#baseBytes + known + workers.size * WORKER_BASE_BYTES + (busy.size + 1) * heapLimitBytes;
  }
}
