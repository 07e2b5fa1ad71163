import { messageOf } from '../../lib/errors.ts';
import type { TaskOutcome } from '../../queue/task-queue.ts';
import type { Operator } from '../operator.ts';
import type { Task } from '../tasks.ts';

/** Takes over what the ConfigMap says now. */
export function handleApplyConfig(operator: Operator): TaskOutcome<Task> {
  const { values, configMapContent, metrics, log } = operator.deps;
  try {
    values.setConfig(configMapContent());
    return { type: 'success' };
  } catch (error) {
    metrics.modulesDiscoverError();
    log.error(
      { error: messageOf(error) },
      'ApplyKubeConfigValues failed, the old values stay in force. Requeue task to retry after delay.',
    );
    return { type: 'retry', error };
  }
}
