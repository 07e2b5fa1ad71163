const BUSY = 0;
const USED_KIB = 1;
const WATCHED = 0;

/**
 * What a worker notes down for the main thread of its process, which looks at it whenever it likes: a message for each
 * run would cost more than a short run.
 */
export interface LedgerBuffers {
  readonly entry: SharedArrayBuffer;
  /** The same for all workers: whether somebody looks at the entries. */
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

  /** What the worker used after its last piece of work. */
  get usedBytes(): number {
    return Atomics.load(this.#entry, USED_KIB) * 1_024;
  }

  /** Notes that work begins. Gives whether nobody looks, so that somebody has to be told to. */
  begin(): boolean {
    Atomics.store(this.#entry, BUSY, 1);
    return beginWatch(this.#watched);
  }

  end(usedBytes: number): void {
    Atomics.store(this.#entry, USED_KIB, Math.ceil(usedBytes / 1_024));
    Atomics.store(this.#entry, BUSY, 0);
  }
}

/** Whoever gets `true` has to see to it that the entries are looked at. */
function beginWatch(watched: Int32Array<SharedArrayBuffer>): boolean {
  return Atomics.compareExchange(watched, WATCHED, 0, 1) === 0;
}

/**
 * To be called by who looks at the entries and found nobody busy. Gives whether it may stop: not so if a worker has
 * begun meanwhile that believed itself watched.
 */
export function mayStopWatching(watchedFlag: SharedArrayBuffer, ledgers: Iterable<WorkLedger>): boolean {
  const watched = new Int32Array(watchedFlag);
  Atomics.store(watched, WATCHED, 0);
  return ![...ledgers].some(({ isBusy }) => isBusy) || !beginWatch(watched);
}
