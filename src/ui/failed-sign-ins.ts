import type { SteadyClock } from '@addon-operator/base/clock';
import { RequestRefusal } from '../server/api/request-refusal.ts';

const WINDOW_MS = 60_000;
/** Failed sign-ins in one window. All people behind one proxy have its address. */
const MAX_OF_ADDRESS = 20;
/** It also bounds the addresses that are remembered. */
const MAX_IN_ALL = 200;

/**
 * Limits failed sign-ins, by address and in all. An attempt counts until it has succeeded, so that attempts at the same time
 * are limited as well.
 */
export class FailedSignIns {
  readonly #clock: SteadyClock;
  readonly #byAddress = new Map<string, number>();
  #total = 0;
  #windowEndMs = 0;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /**
   * Counts an attempt.
   *
   * @returns takes the attempt back: it was no failure
   * @throws RequestRefusal 429 when too many have failed
   */
  attempt(address: string): () => void {
    if (this.#clock.steadyMs() >= this.#windowEndMs) {
      this.#byAddress.clear();
      this.#total = 0;
      this.#windowEndMs = this.#clock.steadyMs() + WINDOW_MS;
    }
    const windowEndMs = this.#windowEndMs;
    const count = this.#byAddress.get(address) ?? 0;
    if (count >= MAX_OF_ADDRESS || this.#total >= MAX_IN_ALL) {
      const seconds = Math.ceil((windowEndMs - this.#clock.steadyMs()) / 1_000);
      throw new RequestRefusal(429, 'REQUEST_REFUSED', `too many failed sign-ins: try again in ${seconds} s`);
    }
    this.#add(address, 1);
    return () => {
      if (this.#windowEndMs === windowEndMs) this.#add(address, -1);
    };
  }

  #add(address: string, change: 1 | -1): void {
    const count = (this.#byAddress.get(address) ?? 0) + change;
    if (count > 0) this.#byAddress.set(address, count);
    else this.#byAddress.delete(address);
    this.#total += change;
  }
}
