import type { SteadyClock } from '../lib/clock.ts';
import { resultOrAbort } from '../lib/result-or-abort.ts';

interface Running {
  readonly over: Promise<void>;
  readonly end: AbortController;
}

/** The time during which an object that is gone may come back before anybody acts on that. One at a time. */
export class AbsenceGrace {
  readonly #clock: SteadyClock;
  readonly #graceMs: number;
  #running: Running | undefined;

  /** @param graceMs 0 for none */
  constructor(clock: SteadyClock, graceMs: number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  get graceMs(): number {
    return this.#graceMs;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Calls `believe` when the time has passed, unless {@link end} was called or the signal has aborted before. Does nothing
   * while it runs already.
   *
   * @param believe rejects only when the signal aborts
   */
  begin(believe: () => Promise<void>, signal: AbortSignal): void {
    if (this.#running !== undefined) return;
    const end = new AbortController();
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const running = { over, end };
    this.#running = running;
    const wait = async (): Promise<void> => {
      try {
        await this.#clock.sleep(this.#graceMs, AbortSignal.any([signal, end.signal]));
        await believe();
      } catch (error) {
        if (!signal.aborted && !end.signal.aborted) throw error;
      } finally {
        if (this.#running === running) this.#running = undefined;
        resolve();
      }
    };
    void wait();
  }

  /** The object is back. */
  end(): void {
    this.#running?.end.abort();
    this.#running = undefined;
  }

  /** Resolves when no caller waits any more. @throws `signal.reason` on abort */
  async untilOver(signal: AbortSignal): Promise<void> {
    if (this.#running !== undefined) await resultOrAbort(this.#running.over, signal);
  }
}
