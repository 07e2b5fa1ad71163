import type { ModuleOperation } from '../status/module-object.ts';
import type { ModuleName } from '../values/module-key.ts';

/** What users asked to be done with modules, until a reconcile takes it over. The last word about a module counts. */
export class ModuleOperations {
  readonly #asked = new Map<ModuleName, ModuleOperation>();

  ask(module: ModuleName, operation: ModuleOperation): void {
    this.#asked.set(module, operation);
  }

  of(module: ModuleName): ModuleOperation | undefined {
    return this.#asked.get(module);
  }

  /** Returns what is asked; from now on it is not asked any more. */
  take(module: ModuleName): ModuleOperation | undefined {
    const operation = this.#asked.get(module);
    this.#asked.delete(module);
    return operation;
  }
}
