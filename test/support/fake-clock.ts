import type { Clock } from '@addon-operator/base/clock';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

/** Code that reads the clock more often, while neither time passes nor the event loop turns, waits for nothing. */
const MAX_READS_IN_A_TURN = 100_000;
/** Callers that wake up more often at one time sleep for no time at all, again and again. */
const MAX_WAKES_AT_A_TIME = 10_000;
const ASLEEP_WITHIN_MS = 20_000;

/** A clock that is stopped until a test advances it. */
export class FakeClock implements Clock {
  /** Of the steady clock. It differs from the wall clock wherever a test sets a start. */
  #nowMs: number;
  #wallOffsetMs: number;
  #sleepers: Sleeper[] = [];
  #watchers: (() => void)[] = [];
  #reads = 0;

  /** @param startMs what the wall clock shows first @param steadyStartMs what the steady clock shows first */
  constructor(startMs = 0, steadyStartMs = 0) {
    this.#nowMs = steadyStartMs;
    this.#wallOffsetMs = startMs - steadyStartMs;
  }

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  steadyMs(): number {
    this.#countRead();
    return this.#nowMs;
  }

  /** A loop without a pause keeps timers from running, so that no time limit would end its test. */
  #countRead(): void {
    if (this.#reads === 0)
      setImmediate(() => {
        this.#reads = 0;
      });
    this.#reads += 1;
    if (this.#reads > MAX_READS_IN_A_TURN) throw new Error('a loop reads the clock without a pause');
  }

  /** Sets the wall clock forward, or back by a negative number; no time passes. */
  setWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Delays, in milliseconds from now, of everyone asleep, shortest first. */
  get pendingDelaysMs(): number[] {
    return this.#sleepers.map((sleeper) => sleeper.wakeAtMs - this.#nowMs).toSorted((a, b) => a - b);
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal.aborted) {
      reject(signal.reason);
      return promise;
    }
    const onAbort = (): void => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      reject(signal.reason);
    };
    const sleeper: Sleeper = {
      wakeAtMs: this.#nowMs + Math.max(0, ms),
      wake: () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      },
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#sleepers.push(sleeper);
    for (const notify of this.#watchers.splice(0)) notify();
    return promise;
  }

  /** Waits until at least `count` callers are asleep. */
  async untilAsleep(count = 1): Promise<void> {
    const limit = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      limit.reject(new Error(`${this.#sleepers.length} of ${count} callers are asleep`));
    }, ASLEEP_WITHIN_MS);
    try {
      while (this.#sleepers.length < count) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#watchers.push(resolve);
        await Promise.race([promise, limit.promise]);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Moves time forward, waking sleepers in the order of their wake times, and lets their continuations run. */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#nowMs + ms;
    let wakes = 0;
    for (;;) {
      const next = this.#sleepers
        .filter((sleeper) => sleeper.wakeAtMs <= targetMs)
        .toSorted((a, b) => a.wakeAtMs - b.wakeAtMs)[0];
      if (next === undefined) break;
      wakes = next.wakeAtMs > this.#nowMs ? 0 : wakes + 1;
      if (wakes > MAX_WAKES_AT_A_TIME) throw new Error('a loop sleeps for no time');
      this.#nowMs = Math.max(this.#nowMs, next.wakeAtMs);
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper !== next);
      next.wake();
      await settle();
    }
    this.#nowMs = targetMs;
    await settle();
  }
}

/** Lets queued promise continuations and immediates run. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
