import type { RootLogger } from '@addon-operator/logging/json-logger';
import type { UncaughtErrors } from '@addon-operator/process/end-on-uncaught';
import type { HookHost } from '../hook-runs/start-hook-tools.ts';
import type { FailedTask } from '../queues/failed-task.ts';
import type { ProcessMemory } from './free-memory.ts';

/**
 * The process in which the daemon runs. Tests and commands give another one, so the daemon reads no
 * global state.
 */
export interface DaemonHost extends HookHost {
  readonly log: RootLogger;
  /** The number of log records that could not be written; default: none. */
  readonly droppedLogRecords?: () => number;
  /** The process, if it belongs to the daemon: an uncaught error ends it. */
  readonly process?: UncaughtErrors;
  /**
   * The memory of the process, if it belongs to the daemon: garbage is collected while it is idle.
   */
  readonly memory?: ProcessMemory;
  /**
   * Called when the port for metrics is in use, and a free one is taken instead. Absent: a used
   * port is an error.
   */
  readonly onPortInUse?: (port: number) => void;
  /** Called for every failed attempt of a task, before the delay starts. */
  readonly onTaskFailure?: (failed: FailedTask) => void;
  /** Called with the address of the page and its token, when it is served. */
  readonly onUi?: (address: string) => void;
}
