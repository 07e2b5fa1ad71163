import { messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { formatGoDuration } from '@addon-operator/strings/go-duration';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { TaskTraces } from '../queues/task-traces.ts';
import type { ConfigChange } from '../values/config-map-store.ts';

/** What the functions here use of the operator. */
export interface ConfigChangesParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly traces: Pick<TaskTraces, 'newEvent'>;
}

/**
 * The start of the way from an edit of the ConfigMap to a release: the watch of `values/config-map-store.ts` calls it.
 * Turns the change into tasks: changed values are taken over first of all; changed global values or
 * flags start the converge over, a changed section runs its module.
 */
export function onConfigChange(operator: ConfigChangesParts, change: ConfigChange): void {
  const { log } = operator;
  operator.converge.setConfigProblem(problemOf(change));
  switch (change.type) {
    case 'invalid':
      log.error(
        { error: change.error },
        'KubeConfig become invalid: the last valid content stays in use until the ConfigMap is corrected',
      );
      return;
    case 'missing':
      log.warn(
        { graceMs: change.graceMs },
        'ConfigMap is missing: its last content stays in use until the grace period ends, then it is treated as deleted',
      );
      return;
    case 'valid':
      log.info({}, 'KubeConfig become valid');
      return;
    case 'changed':
      applyChange(operator, change);
  }
}

function problemOf(change: ConfigChange): string | undefined {
  switch (change.type) {
    case 'invalid':
      return messageOf(change.error);
    case 'missing':
      return `it is missing, and is treated as deleted after ${formatGoDuration(change.graceMs)}`;
    case 'valid':
    case 'changed':
      return undefined;
  }
}

function applyChange(operator: ConfigChangesParts, change: Extract<ConfigChange, { type: 'changed' }>): void {
  const { difference } = change;
  const isReload = difference.isGlobalChanged || difference.flags.length > 0;
  // Before the first discovery the converge to come sees all of it; only the values have to be there before it.
  const isSeenByConverge = isReload || operator.registry.discovery === undefined;
  // Earlier changes that could not be taken over yet are part of this one.
  const earlier = operator.router.main
    .remove((task) => task.type === 'ApplyKubeConfigValues')
    .flatMap((task) => (task.type === 'ApplyKubeConfigValues' ? task.changedKeys : []));
  const changed = new Set([...earlier, ...difference.sections, ...difference.maintenance]);
  const changedKeys = isSeenByConverge ? [] : [...changed];
  const origin = operator.traces.newEvent(() => ({
    type: 'config',
    attributes: { 'addon_operator.config.section': [...changed].join(',') },
  }));
  if (isReload && operator.registry.discovery !== undefined)
    operator.router.restartConverge('ReloadAllModules', 'ReloadAll-After-KubeConfigChange', origin);
  operator.router.main.prepend({
    type: 'ApplyKubeConfigValues',
    changedKeys,
    trigger: 'Apply-Kube-Config-Values-Changes',
    ...origin,
  });
  // What waits after a failure may have waited for just this change.
  operator.router.main.cutDelay();
}
