import type { ModuleOperation } from '../status/module-object.ts';
import type { ModuleName } from '../values/module-key.ts';

/** Where operations are asked for besides commands, such as annotations of Module objects. */
export interface OperationSource {
  of(module: ModuleName): ModuleOperation | undefined;
  /** What `of` says is being done: it is to be taken off, and not to be said again. Returns at once. */
  taken(module: ModuleName): void;
}

/** What users asked to be done with modules, until a reconcile takes it over. A command counts before an annotation. */
export class ModuleOperations {
  readonly #source: OperationSource | undefined;
  readonly #asked = new Map<ModuleName, ModuleOperation>();

  constructor(source: OperationSource | undefined) {
    this.#source = source;
  }

  ask(module: ModuleName, operation: ModuleOperation): void {
    this.#asked.set(module, operation);
  }

  of(module: ModuleName): ModuleOperation | undefined {
    return this.#asked.get(module) ?? this.#source?.of(module);
  }

  /** What a command asked for is not to be done: nobody is responsible for the module. */
  forget(module: ModuleName): void {
    this.#asked.delete(module);
  }

  /** Returns what is asked; from now on it is not asked any more. */
  take(module: ModuleName): ModuleOperation | undefined {
    const operation = this.of(module);
    if (!this.#asked.delete(module) && operation !== undefined) this.#source?.taken(module);
    return operation;
  }
}
