import type { Clock } from '@addon-operator/base/clock';
import { boundedDelay } from '@addon-operator/concurrency/bounded-time';
import type { ModuleName } from '../values/module-key.ts';

export interface RequeuesDeps {
  readonly clock: Clock;
  /** The delay of a module is over. */
  readonly onDue: (module: ModuleName) => void;
}

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Requested reconciles, at most one for each module. A module that requests an immediate one again
 * and again gets the first at once; after that the delay doubles from a second to a minute, so that
 * a hook cannot keep the daemon busy for ever.
 */
export class Requeues {
  readonly #deps: RequeuesDeps;
  readonly #waiting = new Map<ModuleName, { readonly cancel: AbortController; readonly dueMs: number }>();
  readonly #atOnceInRow = new Map<ModuleName, number>();

  constructor(deps: RequeuesDeps) {
    this.#deps = deps;
  }

  /** @param afterMs takes the place of the previous request; undefined changes nothing */
  request(module: ModuleName, afterMs: number | undefined): void {
    if (afterMs === undefined) {
      this.#atOnceInRow.delete(module);
      return;
    }
    const inRow = afterMs === 0 ? (this.#atOnceInRow.get(module) ?? 0) : 0;
    this.#atOnceInRow.set(module, afterMs === 0 ? inRow + 1 : 0);
    const pauseMs = inRow === 0 ? 0 : Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (inRow - 1));
    void this.#wait(module, Math.max(boundedDelay(afterMs), pauseMs));
  }

  /** When a module is due, in milliseconds since the epoch; undefined without a request. */
  dueMs(module: ModuleName): number | undefined {
    return this.#waiting.get(module)?.dueMs;
  }

  /** The module is not reconciled any more. */
  cancel(module: ModuleName): void {
    this.#waiting.get(module)?.cancel.abort();
    this.#waiting.delete(module);
    this.#atOnceInRow.delete(module);
  }

  stop(): void {
    for (const module of this.#waiting.keys()) this.cancel(module);
  }

  async #wait(module: ModuleName, ms: number): Promise<void> {
    const { clock } = this.#deps;
    this.#waiting.get(module)?.cancel.abort();
    const cancel = new AbortController();
    this.#waiting.set(module, { cancel, dueMs: clock.wallMs() + ms });
    try {
      await clock.sleep(ms, cancel.signal);
    } catch {
      return;
    }
    this.#waiting.delete(module);
    this.#deps.onDue(module);
  }
}
