import { randomUUID } from 'node:crypto';

/**
 * Names each piece of work of a hook for servers that must not do it twice: the name stays until the work has succeeded,
 * however often it is repeated, and is never used again.
 */
export class IdempotencyKeys {
  readonly #keys = new WeakMap<object, Map<string, string>>();

  /** @param task what is repeated when the work fails; `work` distinguishes what belongs to the same task */
  of(task: object, work: string): string {
    const keys = this.#keys.get(task) ?? new Map<string, string>();
    this.#keys.set(task, keys);
    const key = keys.get(work) ?? randomUUID();
    keys.set(work, key);
    return key;
  }

  /** The work has succeeded: if it is requested again, it is another piece of work. */
  succeeded(task: object, work: string): void {
    this.#keys.get(task)?.delete(work);
  }
}
