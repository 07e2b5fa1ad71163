import { messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { formatGoDuration } from '@addon-operator/strings/go-duration';
import type { Journal } from '../journal/journal.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { TaskTraces } from '../queues/task-traces.ts';
import type { ConfigChange } from '../values/config-map-store.ts';

/** The parts that a change of the ConfigMap is recorded and queued in. */
export interface ConfigChangesParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly traces: Pick<TaskTraces, 'newEvent'>;
  readonly journal: Pick<Journal, 'marks'>;
}

/**
 * The first step from an edit of the ConfigMap to a release; the watch of
 * `values/config-map-store.ts` calls it. It only queues tasks: `apply-config.ts` applies the
 * values, as the next task of `main`. Changed global values or flags restart the converge; a
 * changed section runs its module. An invalid or missing ConfigMap changes nothing but the reported
 * problem.
 */
export function onConfigChange(operator: ConfigChangesParts, change: ConfigChange): void {
  const { log } = operator;
  operator.converge.setConfigProblem(problemOf(change));
  operator.journal.marks.add({ kind: 'config', text: markText(change) });
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

/** What the timeline says of a change: names of sections, and no values. */
function markText(change: ConfigChange): string {
  switch (change.type) {
    case 'invalid':
      return 'the ConfigMap is invalid';
    case 'missing':
      return 'the ConfigMap is missing';
    case 'valid':
      return 'the ConfigMap is valid again';
    case 'changed': {
      const { sections, flags, isGlobalChanged, maintenance } = change.difference;
      const names = [...(isGlobalChanged ? ['global'] : []), ...flags, ...sections, ...maintenance];
      return `the ConfigMap changed: ${[...new Set(names)].join(', ')}`;
    }
  }
}

/** The problem that status and metrics show for the ConfigMap; undefined if there is none. */
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

/** Queues the tasks for a new content of the ConfigMap. */
function applyChange(operator: ConfigChangesParts, change: Extract<ConfigChange, { type: 'changed' }>): void {
  const { difference } = change;
  const isReload = difference.isGlobalChanged || difference.flags.length > 0;
  // Before the first discovery the coming converge covers all changes; only the values have to be
  // applied before it.
  const isSeenByConverge = isReload || operator.registry.discovery === undefined;
  // The task carries the keys of earlier changes that are not applied yet: one task at a time is
  // enough.
  const earlier = operator.router.main
    .remove((task) => task.type === 'ApplyKubeConfigValues')
    .flatMap((task) => (task.type === 'ApplyKubeConfigValues' ? task.changedKeys : []));
  const changed = new Set([...earlier, ...difference.sections, ...difference.maintenance]);
  const changedKeys = isSeenByConverge ? [] : [...changed];
  const origin = operator.traces.newEvent(() => ({
    type: 'config',
    attributes: { 'addon_operator.config.section': [...changed].join(',') },
  }));
  // Restarted before the apply task is prepended, so that the values come first.
  if (isReload && operator.registry.discovery !== undefined)
    operator.router.restartConverge('ReloadAllModules', 'ReloadAll-After-KubeConfigChange', origin);
  operator.router.main.prepend({
    type: 'ApplyKubeConfigValues',
    changedKeys,
    trigger: 'Apply-Kube-Config-Values-Changes',
    ...origin,
  });
  // A task that fails may be waiting for exactly this change.
  operator.router.main.cutDelay();
}
