import type { ModuleName } from '../values/module-key.ts';

/** A version of a module that does not run yet. */
export interface PendingUpdate {
  /** Undefined where the module names none. */
  readonly version?: string | undefined;
  /** Undefined for a directory that is not in the module store. */
  readonly digest?: string | undefined;
  /** One word in CamelCase, such as `NotLoadable` or `NeedsApproval`. */
  readonly reason: string;
  /** For people; it may have several lines. */
  readonly message: string;
  /** Milliseconds since the epoch, of the first update with this reason and version. */
  readonly sinceMs: number;
}

/**
 * Versions that the switch of modules refused. What waits before it comes that far, delivery knows: views ask both.
 */
export class PendingUpdates {
  readonly #updates = new Map<string, PendingUpdate>();

  get all(): ReadonlyMap<string, PendingUpdate> {
    return this.#updates;
  }

  of(module: ModuleName): PendingUpdate | undefined {
    return this.#updates.get(module);
  }

  /** Returns whether the update is another one, or pending for another reason, than before. */
  set(module: string, update: PendingUpdate): boolean {
    const { version, digest, reason, message } = update;
    const before = this.#updates.get(module);
    const isSame = before?.version === version && before?.digest === digest && before?.reason === reason;
    this.#updates.set(module, isSame ? { ...update, sinceMs: before.sinceMs } : update);
    return !isSame || before.message !== message;
  }

  clear(module: string): void {
    this.#updates.delete(module);
  }
}
