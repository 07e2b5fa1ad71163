import { laneName } from '@addon-operator/task-queue/lane-name';
import { type Hook } from '../hooks/hook.ts';
import { queueOf } from '../hooks/queue-keys.ts';
import type { HookLabels } from '../metrics/hook-metrics.ts';
import type { HookRunLabels } from '../metrics/operator-metrics.ts';
import type { HookRun } from '../model/tasks.ts';

/** Labels of a hook itself, in the metrics that it writes and in those about it. */
export function metricLabels({ owner, name }: Hook): HookLabels {
  return owner.type === 'global' ? { hook: name } : { module: owner.module, hook: name };
}

/**
 * Labels of the metrics about runs of one hook. The lane key of a queue is not a label: keys are
 * unbounded.
 */
export function hookLabels(run: HookRun, queue: string): HookRunLabels {
  const { binding, activation } = run;
  return { ...metricLabels(run.hook.hook), binding, queue: queueLabel(run, queue), activation };
}

/** The queue of the run; for a lane, the queue that it belongs to. */
function queueLabel({ reasons: [reason] }: HookRun, queue: string): string {
  const own = queueOf(reason);
  return own?.lane !== undefined && queue === laneName(own.queue, own.lane.key) ? own.queue : queue;
}
