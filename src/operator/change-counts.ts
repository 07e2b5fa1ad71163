import type { ModuleName } from '../values/module-key.ts';

/**
 * Counts what was changed about each module. A waiting run serves later changes too, so the tasks in the queues do not
 * show whether a change came before or after an abort was requested; the counts do.
 */
export class ChangeCounts {
  readonly #counts = new Map<ModuleName, number>();
  readonly #atAbort = new Map<ModuleName, number>();

  /** A run of the module is necessary. */
  note(module: ModuleName): void {
    this.#counts.set(module, this.#countOf(module) + 1);
  }

  /** An abort is requested: it ends what was changed until now. */
  noteAbort(module: ModuleName): void {
    this.#atAbort.set(module, this.#countOf(module));
  }

  /** Whether the module was changed after the last abort was requested. */
  isChangedSinceAbort(module: ModuleName): boolean {
    const count = this.#countOf(module);
    return count > (this.#atAbort.get(module) ?? count);
  }

  #countOf(module: ModuleName): number {
    return this.#counts.get(module) ?? 0;
  }
}
