import type { KubernetesBinding } from '../hooks/hook-config.ts';

/** The bindings whose Synchronization was asked for and is not done, and who waits for them. */
export class Synchronization {
  readonly #pending = new Map<KubernetesBinding, { readonly isWaitedFor: boolean }>();
  #waiters: (() => void)[] = [];

  /** Whether nothing is pending that is waited for. */
  get isDone(): boolean {
    return [...this.#pending.values()].every(({ isWaitedFor }) => !isWaitedFor);
  }

  isPending(binding: KubernetesBinding): boolean {
    return this.#pending.has(binding);
  }

  expect(binding: KubernetesBinding, isWaitedFor: boolean): void {
    this.#pending.set(binding, { isWaitedFor });
  }

  /** What was not expected, or is done already, counts for nothing. */
  done(binding: KubernetesBinding): void {
    this.#pending.delete(binding);
    if (this.isDone) for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Takes out what nobody will report as done. */
  keepOnly(bindings: ReadonlySet<KubernetesBinding>): void {
    for (const binding of this.#pending.keys()) if (!bindings.has(binding)) this.done(binding);
  }

  /** Resolves when nothing is pending any more that is waited for. */
  whenDone(): Promise<void> {
    if (this.isDone) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push(resolve);
    return promise;
  }
}
