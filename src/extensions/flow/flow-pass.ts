import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type {
  FlowHookInput,
  FlowHookType,
  FlowModule,
  FlowTarget,
  HookLog,
  HookResult,
} from '@addon-operator/sdk';
import type { FlowHooks } from '@addon-operator/sdk/host';

/** The facts about a module at one place of its reconcile. */
export interface FlowSubject {
  readonly module: FlowModule;
  /** The error of the step, after it has failed. */
  readonly error?: string;
}

export interface FlowPassDeps {
  readonly hooks: FlowHooks;
  readonly target: FlowTarget;
  readonly log: HookLog;
}

/**
 * One reconcile with its flow hooks and their results. `reconcile/reconcile-module.ts` creates one
 * per attempt and calls it at each place; a hook may end the reconcile there, enforce it, or
 * request another one. A hook that throws fails the attempt. Without hooks all calls return the
 * defaults.
 */
export class FlowPass {
  readonly #deps: FlowPassDeps | undefined;
  #results: readonly HookResult[] = [];

  constructor(deps: FlowPassDeps | undefined) {
    this.#deps = deps;
  }

  /**
   * The delay until the requested next reconcile, in milliseconds; undefined when no hook requests
   * one.
   */
  get requeueAfterMs(): number | undefined {
    const { requeue, requeueAfterMs } = aggregateRequeues(this.#results);
    if (requeue) return 0;
    return requeueAfterMs > 0 ? requeueAfterMs : undefined;
  }

  /**
   * Whether the hooks of a place end the reconcile.
   *
   * @throws OperatorError EXTENSION_FAILED, or the error of the hook
   */
  async aborts(
    type: FlowHookType,
    subject: (() => FlowSubject) | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    return (await this.#call(type, subject, signal))?.abortReconcile === true;
  }

  /**
   * Whether this instance is responsible for the module: the result of the hooks, else the default.
   *
   * @throws as {@link aborts}
   */
  async isResponsible(
    isByDefault: boolean,
    subject: () => FlowSubject,
    signal: AbortSignal,
  ): Promise<boolean> {
    const result = await this.#call('DuringResponsibilityCheck', subject, signal);
    return result === undefined ? isByDefault : result.abortReconcile !== true;
  }

  /**
   * Whether the module is reconciled: hooks can enforce it, but not prevent it.
   *
   * @throws as {@link aborts}
   */
  async shouldReconcile(
    isNecessary: boolean,
    subject: () => FlowSubject,
    signal: AbortSignal,
  ): Promise<boolean> {
    const result = await this.#call('ShouldReconcile', subject, signal);
    return isNecessary || (result !== undefined && result.abortReconcile !== true);
  }

  async #call(
    type: FlowHookType,
    subject: (() => FlowSubject) | undefined,
    signal: AbortSignal,
  ): Promise<HookResult | undefined> {
    if (this.#deps === undefined) return undefined;
    const { hooks: all, log, target } = this.#deps;
    const hooks = all.of(type);
    if (hooks.length === 0) return undefined;
    const known = subject?.();
    const input: FlowHookInput = {
      type,
      module: known?.module,
      target: known && target,
      error: known?.error,
      log,
      signal,
    };
    const results: (HookResult | undefined)[] = [];
    // One after another, in the order of registration: a later hook may rely on effects of an
    // earlier one.
    for (const hook of hooks) {
      signal.throwIfAborted();
      results.push((await call(() => hook(input), type, signal)) ?? undefined);
    }
    const result = aggregateResults(type, results);
    if (result !== undefined) this.#results = [...this.#results, result];
    return result;
  }
}

async function call<T>(hook: () => T | Promise<T>, type: FlowHookType, signal: AbortSignal): Promise<T> {
  try {
    return await hook();
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof OperatorError) throw cause;
    throw new OperatorError('EXTENSION_FAILED', `A flow hook of type ${type} failed: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** At these places `abortReconcile: false` enforces that the reconcile continues. */
const ENFORCING: ReadonlySet<FlowHookType> = new Set(['DuringResponsibilityCheck', 'ShouldReconcile']);

/**
 * Combines the results of several hooks of one place; undefined when all of them return nothing. A
 * single result is copied. Otherwise one abort suffices, except where false enforces something:
 * there all hooks have to agree. One requeue suffices and makes the time zero; else the shortest
 * time wins.
 */
export function aggregateResults(
  type: FlowHookType,
  results: readonly (HookResult | undefined)[],
): HookResult | undefined {
  const said = results.filter((result) => result !== undefined);
  const [only] = said;
  if (only === undefined) return undefined;
  if (said.length === 1) return { ...only };
  const aborts = said.map(({ abortReconcile = false }) => abortReconcile);
  const abortReconcile = ENFORCING.has(type) ? aborts.every(Boolean) : aborts.some(Boolean);
  return { abortReconcile, ...aggregateRequeues(said) };
}

/** Combines the requested next reconciles of one reconcile. */
export function aggregateRequeues(
  results: readonly HookResult[],
): Required<Pick<HookResult, 'requeue' | 'requeueAfterMs'>> {
  const requeue = results.some((result) => result.requeue === true);
  const times = results.map(({ requeueAfterMs = 0 }) => requeueAfterMs).filter((ms) => ms > 0);
  return { requeue, requeueAfterMs: requeue || times.length === 0 ? 0 : Math.min(...times) };
}
