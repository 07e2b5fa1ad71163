import type { FlowHookType, HookResult } from '../../sdk/flow-hooks.ts';

/** At these places `abortReconcile: false` enforces that the reconcile goes on. */
const ENFORCING: ReadonlySet<FlowHookType> = new Set(['DuringResponsibilityCheck', 'ShouldReconcile']);

/**
 * What several hooks of one place want together; undefined when none of them wants anything. A single result comes back
 * as a copy. Of several, one abort suffices, except where false enforces something: there all have to agree. One requeue
 * suffices and makes any time zero; else the shortest time counts.
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

/** When a module is to be reconciled again after all the results of one reconcile. */
export function aggregateRequeues(
  results: readonly HookResult[],
): Required<Pick<HookResult, 'requeue' | 'requeueAfterMs'>> {
  const requeue = results.some((result) => result.requeue === true);
  const times = results.map(({ requeueAfterMs = 0 }) => requeueAfterMs).filter((ms) => ms > 0);
  return { requeue, requeueAfterMs: requeue || times.length === 0 ? 0 : Math.min(...times) };
}
