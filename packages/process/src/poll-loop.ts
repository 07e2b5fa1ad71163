import type { SteadyClock } from '@addon-operator/base/clock';

const POLLIN = 1;
/** The events that occurred are the upper half of the second word of an entry. */
const OCCURRED = 0xffff_0000;
const ENTRY_BYTES = 8;
const FIRST_ENTRIES = 32;
const FOR_EVER = -1;

export interface PollCalls {
  /**
   * Waits until one of the descriptors is ready, and notes in the table which ones are.
   *
   * @param table `struct pollfd` as two words each
   * @param timeoutMs -1: for ever
   * @returns how many are ready; 0 or less: none, also after a signal
   */
  poll(table: Int32Array, count: number, timeoutMs: number): number;
}

/** A descriptor that is watched until `stop` is called, which must be before it is closed. */
export interface Watch {
  stop(): void;
}

/** Something to be done at times, which has no descriptor. */
export interface Chore {
  /** Moment of the steady clock at which it is due, in milliseconds; undefined: not now. Called in every turn. */
  dueMs(): number | undefined;
  act(): void;
}

interface Entry {
  readonly fd: number;
  readonly onReady: () => void;
  isWatched: boolean;
}

/**
 * Waits for descriptors by poll(2) on the main thread and calls back, instead of the event loop of Node: a stream of Node
 * costs more than starting a process. A turn is one immediate of Node, so promises and timers run between two turns, the
 * latter only when they come from {@link sleep}.
 */
export class PollLoop implements SteadyClock {
  readonly #calls: PollCalls;
  readonly #clock: SteadyClock;
  readonly #chores: Chore[] = [];
  readonly #dueMs = new Set<number>();
  #entries: Entry[] = [];
  #table = new Int32Array((FIRST_ENTRIES * ENTRY_BYTES) / Int32Array.BYTES_PER_ELEMENT);
  #isTableOld = false;

  constructor(calls: PollCalls, clock: SteadyClock) {
    this.#calls = calls;
    this.#clock = clock;
  }

  /** @param onReady called in each turn in which there is something to read, or the other end is closed */
  watch(fd: number, onReady: () => void): Watch {
    const entry: Entry = { fd, onReady, isWatched: true };
    this.#entries.push(entry);
    this.#isTableOld = true;
    return {
      stop: () => {
        entry.isWatched = false;
        this.#isTableOld = true;
      },
    };
  }

  addChore(chore: Chore): void {
    this.#chores.push(chore);
  }

  steadyMs(): number {
    return this.#clock.steadyMs();
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const dueMs = this.steadyMs() + ms;
    this.#dueMs.add(dueMs);
    try {
      await this.#clock.sleep(ms, signal);
    } finally {
      this.#dueMs.delete(dueMs);
    }
  }

  /** Runs turns until it is stopped. @returns stops it */
  start(): () => void {
    let immediate: NodeJS.Immediate;
    const go = (): void => {
      this.turn();
      immediate = setImmediate(go);
    };
    immediate = setImmediate(go);
    return () => clearImmediate(immediate);
  }

  /** Waits until there is something to do, and does it. */
  turn(): void {
    if (this.#isTableOld) this.#fillTable();
    const entries = this.#entries;
    let left = this.#calls.poll(this.#table, entries.length, this.#longestWaitMs());
    for (let index = 0; left > 0 && index < entries.length; index += 1) {
      if (((this.#table[2 * index + 1] ?? 0) & OCCURRED) === 0) continue;
      left -= 1;
      const entry = entries[index];
      if (entry?.isWatched === true) entry.onReady();
    }
    this.#doChores();
  }

  /** Reads the clock at most once a turn. */
  #doChores(): void {
    let nowMs: number | undefined;
    for (const chore of this.#chores) {
      const dueMs = chore.dueMs();
      if (dueMs === undefined) continue;
      nowMs ??= this.steadyMs();
      if (dueMs <= nowMs) chore.act();
    }
  }

  /** Rebuilds the table after a change of the watched descriptors. */
  #fillTable(): void {
    this.#isTableOld = false;
    this.#entries = this.#entries.filter(({ isWatched }) => isWatched);
    const words = this.#entries.length * 2;
    if (words > this.#table.length) this.#table = new Int32Array(2 * words);
    for (const [index, { fd }] of this.#entries.entries()) {
      this.#table[2 * index] = fd;
      this.#table[2 * index + 1] = POLLIN;
    }
  }

  /** Time until the next sleep or chore is due. */
  #longestWaitMs(): number {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const dueMs of this.#dueMs) earliestMs = Math.min(earliestMs, dueMs);
    for (const chore of this.#chores) earliestMs = Math.min(earliestMs, chore.dueMs() ?? earliestMs);
    if (earliestMs === Number.POSITIVE_INFINITY) return FOR_EVER;
    // A timer of Node is due a millisecond late at times: a turn of no length would follow the other until then.
    return Math.max(0, Math.ceil(earliestMs - this.steadyMs()));
  }
}
