import { randomUUID } from 'node:crypto';

/**
 * Keys of requests to HTTP hooks, for servers that must not repeat work. A key stays the same for
 * all attempts of the work, and is never used again after its success. Kept in memory: after a
 * restart of the operator an attempt has a new key.
 */
export class IdempotencyKeys {
  readonly #keys = new WeakMap<object, Map<string, string>>();

  /**
   * @param task the object that is repeated on failure; `work` distinguishes several pieces of work
   * of one task
   */
  of(task: object, work: string): string {
    const keys = this.#keys.get(task) ?? new Map<string, string>();
    this.#keys.set(task, keys);
    const key = keys.get(work) ?? randomUUID();
    keys.set(work, key);
    return key;
  }

  /** The work has succeeded: a further request for it is new work. */
  succeeded(task: object, work: string): void {
    this.#keys.get(task)?.delete(work);
  }
}
