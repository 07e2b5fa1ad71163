import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { TaskTraces } from '../queues/task-traces.ts';
import type { HelmReports } from '../releases/start-helm.ts';
import type { ModuleObjects } from '../status/module-objects.ts';

export interface HelmReportsParts {
  readonly registry: Pick<ModuleRegistry, 'find' | 'tracked'>;
  readonly router: Pick<TaskRouter, 'queueModuleRun'>;
  readonly pauses: Pick<Pauses, 'of'>;
  /** Records Events about modules; undefined where there are none. */
  readonly objects: Pick<ModuleObjects, 'record'> | undefined;
  readonly stop: AbortSignal;
  readonly traces: Pick<TaskTraces, 'newEvent'>;
  readonly metrics: Pick<OperatorMetrics, 'helmOperation' | 'drift' | 'absentResource' | 'releaseRedeployed'>;
}

/**
 * The callbacks of the helm driver: counts its operations, and queues a run of a module whose
 * release needs one.
 */
export function helmReports({
  registry,
  router,
  pauses,
  metrics,
  traces,
  objects,
  stop,
}: HelmReportsParts): HelmReports {
  return {
    onOperation: ({ module, operation, durationMs }) => {
      const tracked = [...registry.tracked.values()].find((other) => other.module.name === module);
      const activation = tracked?.release.activation ?? '';
      metrics.helmOperation({ module, activation, operation }, durationMs / 1_000);
    },
    onFinding: (module, finding) => {
      const known = registry.find(module);
      if (known === undefined) return;
      if (finding.type === 'absent') metrics.absentResource(module, finding.resource);
      else metrics.releaseRedeployed(module);
      router.queueModuleRun(
        known.name,
        finding.type === 'absent' ? 'AbsentHelmResourcesDetected' : 'HelmReleaseUnexpectedStatus',
      );
    },
    isHeld: (module) => pauses.of(module) !== undefined,
    onComparison: (module) =>
      traces.newEvent(() => ({ type: 'drift', attributes: { 'addon_operator.module': module } })).root.span,
    onLeftBehind: (module, left) => {
      const message = `Objects of earlier revisions of its release are left behind: ${left.join(', ')}`;
      // It rejects on abort only, and a stopping daemon records no Events.
      objects
        ?.record(module, { type: 'Warning', reason: 'LeftBehind', message }, stop)
        .catch(() => undefined);
    },
    onDrift: ({ type, module, resource }) => metrics.drift(type, module, resource),
  };
}
