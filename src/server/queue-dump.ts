/** Renders task queues for `queue list` and `queue main`, as text for people and as data for JSON and YAML. */

import { oneLine } from '@addon-operator/strings/escape-controls';
import type { QueueView } from '../status/daemon-view.ts';
import { hookText, NOTED_HOOK_MS, type RunningHookFacts } from '../status/running-hook.ts';
import { type UnfinishedRuns, unfinishedSentences, unfinishedText } from '../status/unfinished-text.ts';

const MAIN = 'main';
const INDEX_WIDTH = 2;
/** Callers that show queues only leave out unfinished runs. */
const NO_UNFINISHED: UnfinishedRuns = { waiting: [], debounced: [], failed: [] };

/** One queue with its tasks, for people, and the hooks in it that have been running for a while. */
export function queueText(queue: QueueView, running: readonly RunningHookFacts[] = []): string {
  const lines = [`Queue '${queue.name}': length ${queue.tasks.length}, status: '${oneLine(queue.status)}'`];
  if (queue.tasks.length > 0) lines.push('');
  for (const { index, description } of queue.tasks)
    lines.push(`${String(index).padStart(INDEX_WIDTH)}. ${oneLine(description)}`);
  // Short runs would only add noise: a hook is listed when it has been running for some seconds.
  const noted = running.filter((hook) => hook.queue === queue.name && hook.runningMs >= NOTED_HOOK_MS);
  if (noted.length > 0) lines.push('', ...noted.map(hookText));
  return `${lines.join('\n')}\n`;
}

/** All queues that hold tasks, `main` first, then a summary; on wish also the names of the empty ones. */
export function queueListText(
  queues: readonly QueueView[],
  showEmpty: boolean,
  running: readonly RunningHookFacts[] = [],
  unfinished: UnfinishedRuns = NO_UNFINISHED,
): string {
  const { active, empty } = splitQueues(queues);
  const blocks = active.map((queue) => queueText(queue, running));
  if (showEmpty && empty.length > 0)
    blocks.push(`Empty queues (${empty.length}):\n${empty.map((queue) => `- ${queue.name}\n`).join('')}`);
  blocks.push(...unfinishedText(unfinishedSentences(unfinished)));
  const { mainQueueTasks, otherQueues, totalTasks } = summaryOf(queues);
  const others = otherQueues.active + otherQueues.empty;
  blocks.push(`Summary:
- '${MAIN}' queue: ${mainQueueTasks === 0 ? 'empty' : taskCount(mainQueueTasks)}.
- ${others} other queues (${otherQueues.active} active, ${otherQueues.empty} empty): ${taskCount(otherQueues.tasks)}.
- ${totalTasks === 0 ? 'no tasks' : `total ${taskCount(totalTasks)}`} to handle.
`);
  return blocks.join('\n');
}

/** One queue as data. */
export function queueData(queue: QueueView): object {
  const { name, status, tasks } = queue;
  return { name, tasksCount: tasks.length, status, tasks };
}

/** The content of {@link queueListText}, as data. */
export function queueListData(
  queues: readonly QueueView[],
  showEmpty: boolean,
  unfinished: UnfinishedRuns = NO_UNFINISHED,
): object {
  const { waiting, debounced, failed } = unfinishedSentences(unfinished);
  const { active, empty } = splitQueues(queues);
  return {
    active: active.map(queueData),
    ...(showEmpty && { empty: empty.map(({ name }) => ({ name, tasksCount: 0 })) }),
    ...(waiting.length > 0 && { waiting }),
    ...(debounced.length > 0 && { debounced }),
    ...(failed.length > 0 && { failed }),
    summary: summaryOf(queues),
  };
}

/** `main` first, the others by name. */
function splitQueues(queues: readonly QueueView[]) {
  const sorted = queues.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  return {
    active: sorted.filter((queue) => queue.tasks.length > 0),
    empty: sorted.filter((queue) => queue.tasks.length === 0),
  };
}

/** Sorts `main` in front. */
function rank(queue: QueueView): number {
  return queue.name === MAIN ? 0 : 1;
}

/** The counts of the original's summary: it does not count `main` among the active and empty queues. */
function summaryOf(queues: readonly QueueView[]) {
  const others = queues.filter((queue) => queue.name !== MAIN);
  const mainQueueTasks = taskSum(queues.filter((queue) => queue.name === MAIN));
  const active = others.filter((queue) => queue.tasks.length > 0).length;
  const tasks = taskSum(others);
  return {
    mainQueueTasks,
    otherQueues: { active, empty: others.length - active, tasks },
    totalTasks: mainQueueTasks + tasks,
  };
}

/** Tasks in all of these queues. */
function taskSum(queues: readonly QueueView[]): number {
  return queues.reduce((sum, queue) => sum + queue.tasks.length, 0);
}

function taskCount(tasks: number): string {
  return tasks === 1 ? '1 task' : `${tasks} tasks`;
}
