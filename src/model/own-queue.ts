import { laneName } from '@addon-operator/task-queue/lane-name';
import { type Destination, queueOf } from '../hooks/queue-keys.ts';
import { type HookTask, MAIN_QUEUE } from './tasks.ts';

/** The queue of a single hook run: that of its binding, or the lane of the key in that queue. */
export function ownQueueOf({ reasons: [reason] }: Pick<HookTask, 'reasons'>): Destination {
  return queueOf(reason) ?? { queue: MAIN_QUEUE };
}

/** The name of that queue. */
export function ownQueueName(task: Pick<HookTask, 'reasons'>): string {
  const { queue, lane } = ownQueueOf(task);
  return lane === undefined ? queue : laneName(queue, lane.key);
}
