import type { Logger } from '@addon-operator/base/log';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { Task } from '../model/tasks.ts';
import { titleOf } from '../queues/task-queue-view.ts';
import type { RetryHeadOutcome } from '../status/queue-retry.ts';

/** The parts that know the queues. */
export interface RetryHeadParts {
  readonly queues: QueueSet<Task>;
  readonly log: Logger;
}

/**
 * Ends the delay after a failure of the first task of a queue, on request of a user, so that the
 * task is tried again now. Refused with a sentence if the task is not delayed: nothing else can be
 * shortened.
 */
export function retryHead({ queues, log }: RetryHeadParts, name: string): RetryHeadOutcome {
  const queue = queues.find(name);
  if (queue === undefined) {
    const known = queues.all.map((each) => each.name);
    return { type: 'unknown', reason: `there is no queue ${name}${didYouMean(name, known)}` };
  }
  const [head] = queue.entries;
  if (head === undefined) return refused(`queue ${name} is empty`);
  const task = titleOf(head.task);
  switch (queue.status.type) {
    case 'delayed':
      log.info({ queue: name, task }, 'first task of the queue is retried on request');
      queue.cutDelay();
      return { type: 'retried', task };
    case 'running':
      return refused(`${task} runs now`);
    case 'repeating':
    case 'queued':
      return refused(`${task} has not failed: it waits for other tasks`);
    case 'idle':
    case 'waiting':
      return refused(`${task} is about to run`);
    case 'stopped':
      return refused('the operator stops');
  }
}

function refused(reason: string): RetryHeadOutcome {
  return { type: 'refused', reason };
}
