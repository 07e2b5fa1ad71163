import type { RootLogger } from '@addon-operator/logging/json-logger';
import type { UncaughtErrors } from '@addon-operator/process/end-on-uncaught';
import type { HookHost } from '../hook-runs/start-hook-tools.ts';
import type { FailedTask } from '../queues/failed-task.ts';
import type { ProcessMemory } from './free-memory.ts';

/** What the process the daemon runs in gives it. */
export interface DaemonHost extends HookHost {
  readonly log: RootLogger;
  /** How many log records had no place to go; default: none. */
  readonly droppedLogRecords?: () => number;
  /** The process, if it is the daemon's own: an uncaught error ends it. */
  readonly process?: UncaughtErrors;
  /** The memory of the process, if it is the daemon's own: garbage is collected while it is at rest. */
  readonly memory?: ProcessMemory;
  /** Called when the port for metrics is in use: they are served on a free one then. Absent: that is an error. */
  readonly onPortInUse?: (port: number) => void;
  /** Called for every failed attempt of a task, before the delay starts. */
  readonly onTaskFailure?: (failed: FailedTask) => void;
  /** Called with the address of the page and its token, when it is served. */
  readonly onUi?: (address: string) => void;
}
