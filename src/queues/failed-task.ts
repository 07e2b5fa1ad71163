import { codeOf, type ErrorFacts, factsOf } from '@addon-operator/base/errors';
import type { QueueEntry, TaskFailure } from '@addon-operator/task-queue';
import { isFinal } from '../hooks/retry-errors.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import { countsForConverge, hookOf, MAIN_QUEUE, moduleOf, type Task } from '../model/tasks.ts';

/** A failed attempt of a task, which will be repeated. */
export interface FailedTask {
  readonly queue: string;
  readonly task: Task['type'];
  /** Empty for tasks that belong to no module. */
  readonly module: string;
  /** Empty for tasks that run no hook. */
  readonly hook: string;
  /** Failed attempts in a row, this one included. */
  readonly failures: number;
  readonly error: string;
  /** Other facts about the failure, such as the exit code of a hook. */
  readonly facts: ErrorFacts;
  /** Milliseconds until the next attempt. */
  readonly delayMs: number;
  /** The first converge cannot end before this task succeeds. */
  readonly holdsUpFirstConverge: boolean;
  /**
   * A global hook failed for good: the operator cannot start without this task, and a retry is
   * pointless.
   */
  readonly endsOperator?: true;
}

/**
 * Describes the head of a queue after a failed attempt, for the log and the end screen of a start.
 */
export function failedTask(
  queue: string,
  { task, failures, lastError }: QueueEntry<Task>,
  { error, delayMs }: TaskFailure,
  { first }: Pick<ConvergeState, 'first'>,
): FailedTask {
  const code = codeOf(error);
  return {
    queue,
    task: task.type,
    module: moduleOf(task),
    hook: hookOf(task),
    failures,
    error: lastError,
    facts: { ...(code !== undefined && { code }), ...factsOf(error) },
    delayMs,
    // `main` runs one task after another, so any failing head delays the first converge.
    holdsUpFirstConverge: first !== 'done' && (queue === MAIN_QUEUE || countsForConverge(task)),
    ...(isFinal(error) && task.type === 'GlobalHookRun' && { endsOperator: true }),
  };
}
