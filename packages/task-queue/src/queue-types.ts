import type { Clock } from '@addon-operator/base/clock';
import type { ErrorCode, ErrorFacts } from '@addon-operator/base/errors';
import type { Lane } from './lanes.ts';

/** A task in a queue, with what happened to it so far. */
export interface QueueEntry<T> {
  readonly id: number;
  readonly task: T;
  /** Since when it waits: since it came, or since its last attempt. */
  readonly queuedAtMs: number;
  /** Tasks that were in front of it when it began to wait; absent for none. */
  readonly ahead?: number;
  /** How long the failure before it has to be waited for; absent without one. */
  readonly retryDelayMs?: number;
  /** When its first attempt began, on the steady clock; absent before. */
  readonly startedMs?: number;
  /** Failed attempts of this task. */
  readonly failures: number;
  /**
   * Whether a failure is still in the way: true from a failed attempt until one succeeds so far that other tasks have
   * to run before the next. The count of failures remains.
   */
  readonly isFailing: boolean;
  /** When the first of those failures in a row ended, on the steady clock; absent before. */
  readonly failingSinceMs?: number;
  /** Why the last attempt failed; empty before the first failure. */
  readonly lastError: string;
  /** The code of that error; absent where it has none. */
  readonly lastCode?: ErrorCode | undefined;
  /** Further facts about that error; absent before the first failure. */
  readonly lastFacts?: ErrorFacts;
}

/** The outcome of a task, from its handler. */
export type TaskOutcome<T> =
  /** Done. `after` goes directly behind the finished task, `tail` to the end of the queue. */
  | { readonly type: 'success'; readonly after?: readonly T[]; readonly tail?: readonly T[] }
  /** Failed: stays at the head and runs again after a growing delay, or after `delayMs`. */
  | { readonly type: 'retry'; readonly error: unknown; readonly delayMs?: number }
  /** Not finished: `before` runs first, then this task again; with `when` not until that promise settles. */
  | { readonly type: 'repeat'; readonly before?: readonly T[]; readonly when?: Promise<unknown> };

/** The activity of the worker of a queue. */
export type QueueStatus =
  /** Between two tasks, or before there is a worker. */
  | { readonly type: 'idle' }
  /** The worker sleeps until a task arrives. */
  | { readonly type: 'waiting'; readonly sinceMs: number }
  /** The first task waits for its turn among the queues of other keys. */
  | { readonly type: 'queued'; readonly sinceMs: number }
  | { readonly type: 'running'; readonly sinceMs: number }
  | { readonly type: 'repeating' }
  | {
      readonly type: 'delayed';
      readonly sinceMs: number;
      readonly delayMs: number;
      /** When the task is tried again, on the wall clock. */
      readonly retryAtMs: number;
    }
  | { readonly type: 'stopped' };

export interface TaskFailure {
  readonly error: unknown;
  /** Milliseconds until the next attempt. */
  readonly delayMs: number;
}

/** Actions on a queue, in the words of the metric `tasks_queue_action_duration_seconds`. */
export type QueueAction =
  | 'AddFirst'
  | 'AddLast'
  | 'AddAfter'
  | 'RemoveFirst'
  | 'DeleteFunc'
  | 'IterateSnapshot';

/** Where tasks are put: first of all, last, or directly behind the one that is over. */
export type QueuePlace = 'head' | 'append' | 'after';

/** Does something and passes on what it gives, having measured how long it took. */
export type MeasureAction = <R>(action: QueueAction, act: () => R) => R;

/** `stop`: take no further task. `abort`: end the task that runs now, too. */
export interface QueueSignals {
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
}

export interface TaskQueueOptions<T> {
  readonly name: string;
  /** Default: the queue is not bounded by others, and its worker waits for tasks until it is stopped. */
  readonly lane?: Lane;
  readonly clock: Clock;
  /** A number in [0, 1), for the jitter of retry delays. */
  readonly random: () => number;
  /** Called for every failed attempt, before the delay starts. */
  readonly onFailure?: (entry: QueueEntry<T>, failure: TaskFailure) => void;
  /** Without it nothing is measured. */
  readonly measure?: MeasureAction;
  /** Tasks that come together, as they shall be queued; `follows` is the task whose outcome names them. */
  readonly admit?: (tasks: readonly T[], follows: T | undefined) => readonly T[];
  /** Called with tasks as soon as they are queued. */
  readonly onAdd?: (place: QueuePlace, entries: readonly QueueEntry<T>[]) => void;
  /**
   * Called after each change with the tasks that the queue holds no longer and those that it holds now, for counts that must
   * not go through all tasks. A task that is removed while it runs is held until its handler ends.
   */
  readonly onChange?: (left: readonly T[], came: readonly T[]) => void;
  /** Receives what the functions above threw: the queue goes on. */
  readonly onError?: (error: unknown) => void;
}
