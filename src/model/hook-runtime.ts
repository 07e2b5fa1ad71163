import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { TokenBucket } from '@addon-operator/concurrency/token-bucket';
import { type BindingHealth, type Monitor, UNKNOWN_HEALTH } from '../events/kubernetes/monitor.ts';
import { OperationCounter, type SnapshotOperations } from '../events/kubernetes/snapshot-operations.ts';
import { WatchHealth } from '../events/kubernetes/watch-health.ts';
import type { HookConfig, KubernetesBinding } from '../hook-config/hook-config.ts';
import type { KubernetesEvent, SnapshotItem } from '../hook-config/kubernetes-binding.ts';
import { type Hook, hooksInOrder, title } from '../hooks/hook.ts';

export interface HookRuntimeOptions {
  readonly clock: SteadyClock;
  /** Aborts when the daemon stops: a wait for the rate limit ends then. */
  readonly stop: AbortSignal;
  readonly createMonitor: (
    hook: Hook,
    binding: KubernetesBinding,
    onEvent: (event: KubernetesEvent) => void,
  ) => Monitor;
  readonly onEvent: (runtime: HookRuntime, binding: KubernetesBinding, event: KubernetesEvent) => void;
}

/**
 * How long a run is delayed while events arrive fast, and the longest time since the previous run
 * that counts as fast.
 */
export const GATHER_MS = 10;

/** A run that is not retried, until a later run of the hook for the same binding succeeds. */
export interface FinalFailure {
  /** Name of the binding. */
  readonly binding: string;
  readonly error: string;
  /** On the wall clock. */
  readonly atMs: number;
  /** Requests to a webhook failed in a row, the last one for this reason; absent for a run that failed for good. */
  readonly isOfRequests?: true;
}

/**
 * A webhook counts as failed after this many failed requests in a row; fewer may be an accident.
 */
export const FAILED_REQUESTS = 3;

interface RunInProgress {
  readonly abort: (error: OperatorError) => void;
  readonly ended: Promise<void>;
}

/**
 * A hook in operation: its monitors, its rate limit and its failures. `reconcile` starts and stops
 * it with its module; queues and `hook-runs` use it for each run. A reload replaces it by a new
 * one: tasks that still hold a stopped runtime end without a run.
 */
export class HookRuntime {
  readonly hook: Hook;
  readonly #options: HookRuntimeOptions;
  readonly #monitors = new Map<number, Monitor>();
  /** Bindings whose monitor could not be started. */
  readonly #notStarted = new Map<number, WatchHealth>();
  readonly #rateLimiter: TokenBucket | undefined;
  readonly #stopped = new AbortController();
  readonly #runs = new Set<RunInProgress>();
  #areSchedulesEnabled = false;
  #isSetAside = false;

  constructor(hook: Hook, options: HookRuntimeOptions) {
    this.hook = hook;
    this.#options = options;
    const { rateLimit } = hook.config.settings;
    this.#rateLimiter = rateLimit === undefined ? undefined : new TokenBucket(rateLimit, options.clock);
  }

  readonly #finalFailures = new Map<string, FinalFailure>();
  /** How many requests failed in a row, by binding. */
  readonly #failedRequests = new Map<string, number>();

  /** The failures that are not retried, of each binding the last one. */
  get finalFailures(): readonly FinalFailure[] {
    return [...this.#finalFailures.values()];
  }

  noteFinalFailure(failure: FinalFailure): void {
    this.#finalFailures.set(failure.binding, failure);
  }

  /**
   * A run for a request failed and is not retried. It counts after {@link FAILED_REQUESTS} in a
   * row.
   */
  noteFailedRequest(failure: FinalFailure): void {
    const count = (this.#failedRequests.get(failure.binding) ?? 0) + 1;
    this.#failedRequests.set(failure.binding, count);
    if (count >= FAILED_REQUESTS) this.noteFinalFailure({ ...failure, isOfRequests: true });
  }

  get hasFailures(): boolean {
    return this.#finalFailures.size > 0 || this.#failedRequests.size > 0;
  }

  /** A run for these bindings succeeded. */
  forgetFailures(bindings: Iterable<string>): void {
    for (const binding of bindings) {
      this.#finalFailures.delete(binding);
      this.#failedRequests.delete(binding);
    }
  }

  /** The end of the last successful run for events; undefined before. */
  #lastEventRunMs: number | undefined;

  /** Schedules fire for the hook only while this is set. */
  get areSchedulesEnabled(): boolean {
    return this.#areSchedulesEnabled;
  }

  enableSchedules(isEnabled: boolean): void {
    this.#areSchedulesEnabled = isEnabled;
  }

  /**
   * Schedules and the queue `main` skip the hook, because the operator lacks the permission to
   * watch one of its bindings.
   */
  get isSetAside(): boolean {
    return this.#isSetAside;
  }

  setAside(isSetAside: boolean): void {
    this.#isSetAside = isSetAside;
  }

  /** A stopped hook does not run again: queued tasks of it end without a run. */
  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  /**
   * Takes a token of the hook's rate limit, and waits until there is one; resolves at once without
   * a limit, and when the hook is stopped. Called before runs are combined, so that events that
   * arrive in the meantime are part of the run.
   *
   * @throws the reason of `signal`, or of the daemon's stop
   */
  async waitForTurn(signal: AbortSignal): Promise<void> {
    const limiter = this.#rateLimiter;
    if (limiter === undefined) return;
    await this.#unlessStopped((ends) => limiter.take(ends), [signal, this.#options.stop]);
  }

  /** Waits with a signal that aborts when the hook is stopped too, which ends the wait and is no failure. */
  async #unlessStopped(
    wait: (ends: AbortSignal) => Promise<void>,
    signals: readonly AbortSignal[],
  ): Promise<void> {
    try {
      await wait(AbortSignal.any([...signals, this.#stopped.signal]));
    } catch (error) {
      if (!this.isStopped) throw error;
    }
  }

  /** Called after each successful run for events. */
  noteEventRun(): void {
    this.#lastEventRunMs = this.#options.clock.steadyMs();
  }

  /**
   * Waits {@link GATHER_MS} when events arrive faster than the hook handles them, so that the next
   * run gets more of them: a run costs as much for one event as for twenty. A single event, or one
   * after a break, is not delayed.
   *
   * @param waiting events that the next run has already
   * @throws the reason of `signal`, or of the daemon's stop
   */
  async gather(waiting: number, signal: AbortSignal): Promise<void> {
    const { clock, stop } = this.#options;
    const idleMs = clock.steadyMs() - (this.#lastEventRunMs ?? Number.NEGATIVE_INFINITY);
    if (waiting < 2 || idleMs >= GATHER_MS) return;
    await this.#unlessStopped((ends) => clock.sleep(GATHER_MS, ends), [signal, stop]);
  }

  /**
   * Starts the missing monitors in configuration order; none of a stopped hook. An error names the
   * hook and the binding. Monitors that were started before it stay, and a retry continues after
   * them.
   */
  async startMonitors(signal: AbortSignal): Promise<void> {
    for (const binding of this.hook.config.kubernetes) {
      if (this.isStopped) return;
      if (this.#monitors.has(binding.index)) continue;
      const monitor = this.#options.createMonitor(this.hook, binding, (event) => {
        if (!this.isStopped) this.#options.onEvent(this, binding, event);
      });
      try {
        await monitor.start(signal);
      } catch (error) {
        await monitor.stop();
        this.#noteFailedStart(binding.index, error);
        throw withPlace(error, this.hook, binding);
      }
      this.#notStarted.delete(binding.index);
      if (this.isStopped) await monitor.stop();
      else this.#monitors.set(binding.index, monitor);
    }
  }

  #noteFailedStart(bindingIndex: number, error: unknown): void {
    const health = this.#notStarted.get(bindingIndex) ?? new WatchHealth(this.#options.clock);
    health.failed(error);
    this.#notStarted.set(bindingIndex, health);
  }

  isMonitored(bindingIndex: number): boolean {
    return this.#monitors.has(bindingIndex);
  }

  /** The current objects of one kubernetes binding; none while its monitor does not run. */
  snapshot(bindingIndex: number): readonly SnapshotItem[] {
    return this.#monitors.get(bindingIndex)?.snapshot() ?? [];
  }

  /** The same for observers such as the API: it does not drop events that are held back. */
  peek(bindingIndex: number): readonly SnapshotItem[] {
    return this.#monitors.get(bindingIndex)?.peek() ?? [];
  }

  /**
   * Operations on the snapshot of one kubernetes binding; none while its monitor does not run.
   */
  operations(bindingIndex: number): SnapshotOperations {
    return this.#monitors.get(bindingIndex)?.operations() ?? new OperationCounter().read(0);
  }

  /** How far the snapshot of one kubernetes binding can be trusted. */
  health(bindingIndex: number): BindingHealth {
    const monitor = this.#monitors.get(bindingIndex);
    if (monitor !== undefined) return monitor.health();
    return { ...UNKNOWN_HEALTH, watchFailure: this.#notStarted.get(bindingIndex)?.report.failure };
  }

  /** Holds the events of one kubernetes binding back again, beginning with those that the hook has missed. */
  lock(bindingIndex: number, missed: readonly KubernetesEvent[]): void {
    this.#monitors.get(bindingIndex)?.lock(missed);
  }

  /** Lets events of the given bindings through, beginning with those that were held back. */
  unlock(bindingIndexes: Iterable<number>): void {
    for (const index of bindingIndexes) this.#monitors.get(index)?.unlock();
  }

  /**
   * A run begins.
   *
   * @param abort ends the run, which fails with the error
   * @returns to be called at its end
   */
  begin(abort: (error: OperatorError) => void): () => void {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const run = { abort, ended };
    this.#runs.add(run);
    return () => {
      this.#runs.delete(run);
      resolve();
    };
  }

  /** Ends the runs in progress of a stopped hook, whose outputs do not count any more. */
  async endRuns(): Promise<void> {
    const error = new OperatorError(
      'RUN_ABORTED',
      `The run of ${title(this.hook)} was ended: another version of it takes over`,
    );
    const running = [...this.#runs];
    for (const { abort } of running) abort(error);
    await Promise.all(running.map(({ ended }) => ended));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#areSchedulesEnabled = false;
    await Promise.all([...this.#monitors.values()].map((monitor) => monitor.stop()));
    this.#monitors.clear();
  }
}

/**
 * Starts the monitors of several hooks at the same time, so that bindings that select the same
 * objects share one list request. Settles when no start is in progress any more.
 *
 * @throws the error of the first hook that failed, see {@link HookRuntime.startMonitors}
 */
export async function startMonitors(runtimes: readonly HookRuntime[], signal: AbortSignal): Promise<void> {
  const starts = await Promise.allSettled(runtimes.map((runtime) => runtime.startMonitors(signal)));
  for (const start of starts) if (start.status === 'rejected') throw start.reason;
}

/** Those of the hooks that have a lifecycle binding, in the order they run. */
export function runtimesInOrder(
  runtimes: readonly HookRuntime[],
  binding: keyof HookConfig['lifecycle'],
): readonly HookRuntime[] {
  const hooks = hooksInOrder(
    runtimes.map(({ hook }) => hook),
    binding,
  );
  return hooks.flatMap((hook) => runtimes.find((runtime) => runtime.hook === hook) ?? []);
}

/**
 * Adds hook and binding to the message: a module may have many hooks, and several of them may watch
 * the same kind.
 */
function withPlace(error: unknown, hook: Hook, { watch }: KubernetesBinding): unknown {
  if (!(error instanceof OperatorError)) return error;
  const message = `${title(hook)}, kubernetes binding '${watch.name}': ${error.message}`;
  return new OperatorError(error.code, message, { cause: error });
}
