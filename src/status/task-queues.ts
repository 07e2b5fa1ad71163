/** One queue at one moment, as data. Times are RFC 3339 in UTC. */
export interface TaskQueueView {
  readonly name: string;
  /** All tasks, of which `tasks` may be the first ones only. */
  readonly length: number;
  /** How many keys of the queue have tasks. Each is a queue `<name>[<key>]`, of which the first 100 are listed. */
  readonly keys: number;
  readonly status: TaskQueueStatus;
  /** In the order in which they run, the running one first. */
  readonly tasks: readonly TaskView[];
}

/**
 * The activity of the worker of a queue. `running`: it runs the first task. `delayed`: the first task failed and is retried at `until`.
 * `repeating`: the first task waits for something else than time. `waiting`: the queue is empty. `idle`: between two tasks, or
 * before there is a worker. `stopped`: the operator stops.
 */
export interface TaskQueueStatus {
  readonly type: 'idle' | 'waiting' | 'running' | 'repeating' | 'delayed' | 'stopped';
  /** Null where it has no beginning. */
  readonly since: string | null;
  /** When the first task is retried; null while it is not delayed. */
  readonly until: string | null;
}

/** A task in a queue. Strings are empty, and objects null, where there is nothing. */
export interface TaskView {
  /** `<queue>/<number>`. Stays the same over all attempts; a task that moves to another queue gets another one. */
  readonly id: string;
  /** Such as `ModuleRun`. */
  readonly type: string;
  readonly module: string;
  readonly hook: string;
  /** Kind of the binding of a hook run, such as `kubernetes`. */
  readonly binding: string;
  readonly trigger: string;
  /** The same for all tasks that one event led to. */
  readonly eventId: string;
  /** The hook run whose changes led to the task. */
  readonly triggeredBy: { readonly hook: string; readonly binding: string } | null;
  /** Since when it waits: since it was queued, or since its last attempt. */
  readonly queuedAt: string;
  /** Failed attempts. */
  readonly failures: number;
  readonly lastError: string;
  readonly lastCode: string;
  /** The reasons why it waits, the nearest first; empty while it runs. */
  readonly waits: readonly TaskWait[];
}

/**
 * `head`: tasks in front of it. `retry`: the delay after a failure. `pause`: its module is paused. `module`: another task of
 * its module. `synchronization`: the first runs of hooks of its module. `rate`: the rate limit of its hook. `keys`: its turn
 * among the keys of its queue.
 */
export interface TaskWait {
  readonly for: 'head' | 'retry' | 'pause' | 'module' | 'synchronization' | 'rate' | 'keys';
  /** For people. */
  readonly text: string;
  /** When that ends at the latest; null if it is not known. */
  readonly until: string | null;
  /** Id of the task, or name of the module, that it waits for; null for neither. */
  readonly ref: string | null;
}
