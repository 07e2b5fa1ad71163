import type { ModuleStatus } from '../status/module-explanation.ts';

interface Observed {
  readonly status: ModuleStatus;
  readonly sinceMs: number;
}

/**
 * Since when each module has its status, in milliseconds since the epoch. A status has no event of its own, because it is
 * derived from queues, pauses and decisions, so the first observation of a status is its beginning. The Module objects
 * observe every change.
 */
export class StatusTimes {
  readonly #observed = new Map<string, Observed>();

  /**
   * The beginning of this status, which the module has now.
   *
   * @param beganMs where the beginning is known better than by observation, such as the first failure in a row
   */
  since(module: string, status: ModuleStatus, beganMs: () => number): number {
    const known = this.#observed.get(module);
    if (known?.status === status) return known.sinceMs;
    const sinceMs = beganMs();
    this.#observed.set(module, { status, sinceMs });
    return sinceMs;
  }
}
