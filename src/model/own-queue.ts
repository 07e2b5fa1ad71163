import { laneName } from '@addon-operator/task-queue/lane-name';
import { type Destination, queueOf } from '../hooks/queue-keys.ts';
import { type HookTask, MAIN_QUEUE } from './tasks.ts';

/** Where the run of a hook waits by itself: in the queue of its binding, or of the key in that queue. */
export function ownQueueOf({ reasons: [reason] }: Pick<HookTask, 'reasons'>): Destination {
  return queueOf(reason) ?? { queue: MAIN_QUEUE };
}

/** The name of that queue. */
export function ownQueueName(task: Pick<HookTask, 'reasons'>): string {
  const { queue, lane } = ownQueueOf(task);
  return lane === undefined ? queue : laneName(queue, lane.key);
}
