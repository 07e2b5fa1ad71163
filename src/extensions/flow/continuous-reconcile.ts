import type { FlowHookSetup, FlowModule } from '../../sdk/flow-hooks.ts';

export interface ContinuousReconcileDeps {
  readonly now: () => number;
  /** When a `reconcileEvery` is due next after a time, both in milliseconds since the epoch; undefined: never. */
  readonly nextAfter: (reconcileEvery: string, afterMs: number) => number | undefined;
}

/**
 * Reconciles modules with `reconcileEvery` again when that time is over, although nothing has changed. A module that
 * failed for good stays as it is until something changes.
 */
export function continuousReconcile({ now, nextAfter }: ContinuousReconcileDeps): FlowHookSetup {
  const dueMs = ({ reconcileEvery }: FlowModule, afterMs: number): number | undefined =>
    reconcileEvery === null ? undefined : nextAfter(reconcileEvery, afterMs);
  return {
    hookTypes: ['ShouldReconcile', 'End'],
    hook: ({ type, module }) => {
      if (module === undefined || module.phase === 'Failed' || module.phase === 'Deleting') return undefined;
      const nowMs = now();
      const nextMs = dueMs(module, type === 'End' ? nowMs : (module.lastReconcileMs ?? 0));
      if (nextMs === undefined) return undefined;
      const leftMs = Math.max(1, nextMs - nowMs);
      if (type === 'End') return { requeueAfterMs: leftMs };
      // It is reconciled anyway, and its End says when again.
      if (module.phase === 'Init' || module.operation !== null) return undefined;
      return nextMs <= nowMs ? { abortReconcile: false } : { abortReconcile: true, requeueAfterMs: leftMs };
    },
  };
}
