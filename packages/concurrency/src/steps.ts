import { setImmediate } from 'node:timers/promises';
import type { SteadyClock } from '@addon-operator/base/clock';

/** A computation that may be interrupted at each of its yields. */
export type Steps<T> = Generator<undefined, T, void>;

/** Longest time without a turn of the event loop, if the steps themselves are short. */
const SLICE_MS = 20;

/** The result of all steps, one after the other. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same, with a turn of the event loop every 20 ms, so that a long computation does not stop everything else. */
export async function finishInSlices<T>(steps: Steps<T>, clock: SteadyClock): Promise<T> {
  let sliceMs = clock.steadyMs();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (clock.steadyMs() - sliceMs < SLICE_MS) continue;
    await setImmediate();
    sliceMs = clock.steadyMs();
  }
}
