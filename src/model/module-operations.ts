import type { ModuleOperation } from '../status/module-object.ts';
import type { ModuleName } from '../values/module-key.ts';

/** A source of operations other than commands: annotations of Module objects. */
export interface OperationSource {
  of(module: ModuleName): ModuleOperation | undefined;
  /** A reconcile has taken over what `of` returns: `of` does not return it again. A restart forgets this. */
  claim(module: ModuleName): void;
  /** A claimed operation begins: the request is removed for good. Returns at once. */
  taken(module: ModuleName): void;
}

/**
 * Operations that users requested for modules, until a reconcile takes them over. A command wins
 * over an annotation.
 */
export class ModuleOperations {
  readonly #source: OperationSource | undefined;
  readonly #requested = new Map<ModuleName, ModuleOperation>();
  readonly #claimed = new Set<ModuleName>();

  constructor(source: OperationSource | undefined) {
    this.#source = source;
  }

  /**
   * The newest request counts, but a plain reconcile does not replace a forced one that was not taken over yet. An abort
   * that an annotation requests is older than the run that is requested now, and would end it.
   */
  request(module: ModuleName, operation: ModuleOperation): void {
    if (operation !== 'abort' && this.#source?.of(module) === 'abort') {
      this.#source.claim(module);
      this.#source.taken(module);
    }
    if (operation === 'reconcile' && this.#requested.get(module) === 'force-reconcile') return;
    this.#requested.set(module, operation);
  }

  of(module: ModuleName): ModuleOperation | undefined {
    return this.#requested.get(module) ?? this.#source?.of(module);
  }

  /** Whether a run is requested, although an abort may come first. */
  isRunRequested(module: ModuleName): boolean {
    const requested = [this.#requested.get(module), this.#source?.of(module)];
    return requested.includes('reconcile') || requested.includes('force-reconcile');
  }

  /** Drops what a command requested: no instance is responsible for the module. */
  forget(module: ModuleName): void {
    this.#requested.delete(module);
  }

  /**
   * Returns the requested operation and clears the request. An annotation stays on its object until
   * {@link begin}, so that a restart of the daemon finds it there while the operation is only
   * deferred.
   */
  take(module: ModuleName): ModuleOperation | undefined {
    const operation = this.of(module);
    if (this.#requested.delete(module) || operation === undefined) return operation;
    this.#source?.claim(module);
    this.#claimed.add(module);
    return operation;
  }

  /** An operation that was taken over begins. */
  begin(module: ModuleName): void {
    if (this.#claimed.delete(module)) this.#source?.taken(module);
  }
}
