/** The facts about modules during one pass of the controller, refreshed while the pass writes. */

import type { SteadyClock } from '@addon-operator/base/clock';
import type { ModuleFacts } from './module-facts.ts';

export interface LatestFactsOptions {
  readonly clock: Pick<SteadyClock, 'steadyMs'>;
  /** At least so long facts are used before they are read again. */
  readonly maxAgeMs: number;
  /** Whether there may be newer facts than those read last. */
  readonly hasChanged: () => boolean;
  readonly read: () => readonly ModuleFacts[];
}

/**
 * The facts for one pass over all modules. Writing the objects of many modules takes seconds, in which modules continue to run:
 * without this the last writes of a pass would show how things were at its start, and each would be needed twice.
 */
export class LatestFacts {
  /** All modules, as they were at the start of the pass. */
  readonly all: readonly ModuleFacts[];
  readonly #options: LatestFactsOptions;
  #byModule: ReadonlyMap<string, ModuleFacts> = new Map();
  #readAtMs: number;

  constructor(options: LatestFactsOptions) {
    this.#options = options;
    this.#readAtMs = options.clock.steadyMs();
    this.all = options.read();
  }

  /** The facts of the same module now; those at the start of the pass when it is gone. */
  of(one: ModuleFacts): ModuleFacts {
    const { clock, maxAgeMs, hasChanged, read } = this.#options;
    if (hasChanged() && clock.steadyMs() - this.#readAtMs >= maxAgeMs) {
      this.#byModule = new Map(read().map((facts) => [facts.explanation.module, facts]));
      this.#readAtMs = clock.steadyMs();
    }
    return this.#byModule.get(one.explanation.module) ?? one;
  }
}
