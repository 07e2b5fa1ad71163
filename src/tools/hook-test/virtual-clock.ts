import type { Clock } from '@addon-operator/base/clock';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is advanced. */
export class VirtualClock implements Clock {
  #nowMs = 0;
  readonly #startMs: number;
  readonly #sleepers = new Set<Sleeper>();

  /** @param startMs what the wall clock shows first */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  wallMs(): number {
    return this.#startMs + this.#nowMs;
  }

  steadyMs(): number {
    return this.#nowMs;
  }

  /** When the next sleeper wakes, in milliseconds from now; undefined without a sleeper. */
  get nextMs(): number | undefined {
    let next: number | undefined;
    for (const { wakeAtMs } of this.#sleepers) next = Math.min(next ?? wakeAtMs, wakeAtMs);
    return next === undefined ? undefined : next - this.#nowMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal.aborted) {
      reject(signal.reason);
      return promise;
    }
    const end = (): void => {
      this.#sleepers.delete(sleeper);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      end();
      reject(signal.reason);
    };
    const sleeper: Sleeper = {
      wakeAtMs: this.#nowMs + Math.max(0, ms),
      wake: () => {
        end();
        resolve();
      },
    };
    signal.addEventListener('abort', onAbort);
    this.#sleepers.add(sleeper);
    return promise;
  }

  /** Moves the time by `ms`, and wakes who slept until then. Call it with no more than {@link nextMs}. */
  pass(ms: number): void {
    this.#nowMs += ms;
    for (const { wakeAtMs, wake } of this.#sleepers) if (wakeAtMs <= this.#nowMs) wake();
  }
}
