import { setTimeout } from 'node:timers/promises';

/** Time as a parameter, so that tests need not wait. */
export interface SandboxClock {
  /** Milliseconds since the Unix epoch. */
  wallMs(): number;
  /** Milliseconds since any moment, never set or turned back. */
  steadyMs(): number;
  /** Resolves after `ms` milliseconds, at most 2^31; rejects as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The time of this machine. */
export const machineClock: SandboxClock = {
  wallMs: () => Date.now(),
  steadyMs: () => performance.now(),
  sleep: async (ms, signal) => await setTimeout(Math.max(0, ms), undefined, { signal }),
};
