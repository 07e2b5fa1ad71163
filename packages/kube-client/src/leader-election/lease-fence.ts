import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';

/** Decides, by a clock that is never turned back, whether this replica may still act. */
export class LeaseFence {
  readonly #clock: Pick<SteadyClock, 'steadyMs'>;
  #stopAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(steadyClock: Pick<SteadyClock, 'steadyMs'>) {
    this.#clock = steadyClock;
  }

  /** Allows acting until then. Has no effect once the fence is closed. */
  extend(stopAtMs: number): void {
    this.#stopAtMs = stopAtMs;
  }

  /** From now on, and for good, nothing is allowed. */
  close(): void {
    this.#isClosed = true;
  }

  /** @throws OperatorError LEASE_LOST when we must not act any more */
  check(): void {
    if (!this.#isClosed && this.#clock.steadyMs() < this.#stopAtMs) return;
    this.#isClosed = true;
    throw new OperatorError(
      'LEASE_LOST',
      'This replica no longer holds the lease, so it starts nothing and writes nothing',
    );
  }
}
