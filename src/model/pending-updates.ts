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

/** Reasons that need a person: the update was tried, and refused. Others end by themselves. */
const REFUSALS: ReadonlySet<string> = new Set([
  'NotLoadable',
  'SettingsInvalid',
  'WouldFail',
  'Unverified',
  'VersionChanged',
]);

/** Whether an update was refused, so that a person has to do something. */
export function isRefused({ reason }: PendingUpdate): boolean {
  return REFUSALS.has(reason);
}

/**
 * Versions that are wanted and do not run yet. The switch of modules and the delivery of modules
 * write it, the views read it.
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
