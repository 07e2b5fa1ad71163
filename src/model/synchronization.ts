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

/**
 * The kubernetes bindings with a pending Synchronization, of one module or of the global hooks.
 * `reconcile/module-run.ts` expects them and waits, hook runs report them as done or failed. A run
 * that is dropped with its queue is lost, not done: the waiting task has to queue it again, or it
 * would wait for ever.
 */
export class Synchronization {
  readonly #pending = new Map<KubernetesBinding, Expected>();
  #waiters: (() => void)[] = [];
  #failure: SynchronizationFailure | undefined;

  /** Whether no Synchronization is pending that a task waits for. */
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

  /** Ignored for a binding that is not pending. */
  done(binding: KubernetesBinding): void {
    this.#pending.delete(binding);
    if (this.isDone) this.wake();
  }

  /**
   * The run for a binding was dropped: waiting tasks check again. Ignored for a binding that is not
   * pending.
   */
  lose(binding: KubernetesBinding): void {
    const expected = this.#pending.get(binding);
    if (expected === undefined) return;
    this.#pending.set(binding, { ...expected, isLost: true });
    this.wake();
  }

  /**
   * The run for a binding failed and is not retried. The waiting task fails with the error, and a
   * later one queues the run again.
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

  /** Makes all waiting tasks check again. */
  wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Removes bindings that no longer exist, whose runs will never be reported as done. */
  keepOnly(bindings: ReadonlySet<KubernetesBinding>): void {
    for (const binding of this.#pending.keys()) if (!bindings.has(binding)) this.done(binding);
  }

  /**
   * Resolves when no Synchronization is pending that a task waits for, or when the caller has to
   * check again.
   */
  whenDone(): Promise<void> {
    if (this.isDone) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push(resolve);
    return promise;
  }
}
