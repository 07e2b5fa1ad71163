import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import type { Hook } from '../hooks/hook.ts';

interface Expected {
  readonly isWaitedFor: boolean;
  readonly isLost: boolean;
}

/** A run that failed and is not retried. */
interface SynchronizationFailure {
  readonly hook: Hook;
  readonly error: unknown;
}

/** The bindings with a pending Synchronization, and who waits for them. */
export class Synchronization {
  readonly #pending = new Map<KubernetesBinding, Expected>();
  #waiters: (() => void)[] = [];
  #failure: SynchronizationFailure | undefined;

  /** Whether nothing is pending that is waited for. */
  get isDone(): boolean {
    return [...this.#pending.values()].every(({ isWaitedFor }) => !isWaitedFor);
  }

  isPending(binding: KubernetesBinding): boolean {
    return this.#pending.has(binding);
  }

  /** Whether its run was dropped after it was queued: it has to be queued again. */
  isLost(binding: KubernetesBinding): boolean {
    return this.#pending.get(binding)?.isLost === true;
  }

  expect(binding: KubernetesBinding, isWaitedFor: boolean): void {
    this.#pending.set(binding, { isWaitedFor, isLost: false });
  }

  /** What was not expected, or is done already, counts for nothing. */
  done(binding: KubernetesBinding): void {
    this.#pending.delete(binding);
    if (this.isDone) this.wake();
  }

  /** The run for a binding was dropped; who waits looks again. What is not pending counts for nothing. */
  lose(binding: KubernetesBinding): void {
    const expected = this.#pending.get(binding);
    if (expected === undefined) return;
    this.#pending.set(binding, { ...expected, isLost: true });
    this.wake();
  }

  /**
   * The run for a binding failed and is not retried. What waits for it fails with the error, and the run is to be queued
   * again by what comes later.
   */
  fail(binding: KubernetesBinding, failure: SynchronizationFailure): void {
    if (!this.#pending.has(binding)) return;
    this.#failure = failure;
    this.lose(binding);
  }

  /** The failure of a run since the last call; undefined without one. */
  takeFailure(): SynchronizationFailure | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** The hook has missed events of the binding: it is synchronized again, unless that is pending already. */
  miss(binding: KubernetesBinding): void {
    if (!this.#pending.has(binding)) this.#pending.set(binding, { isWaitedFor: false, isLost: true });
  }

  /** Lets all who wait look again. */
  wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Removes what will never be reported as done. */
  keepOnly(bindings: ReadonlySet<KubernetesBinding>): void {
    for (const binding of this.#pending.keys()) if (!bindings.has(binding)) this.done(binding);
  }

  /** Resolves when nothing is pending any more that is waited for, or when it has to be looked at again. */
  whenDone(): Promise<void> {
    if (this.isDone) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push(resolve);
    return promise;
  }
}
