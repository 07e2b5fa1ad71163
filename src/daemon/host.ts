import type { Clock } from '../lib/clock.ts';
import type { RootLogger } from '../lib/pino-logger.ts';
import type { FailedTask } from './failed-task.ts';

/** What the process the daemon runs in gives it. */
export interface DaemonHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** A clock that is never set, for deadlines that other processes rely on. */
  readonly steadyClock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: RootLogger;
  readonly version: string;
  /** Told about every failed attempt of a task, before the delay starts. */
  readonly onTaskFailure?: (failed: FailedTask) => void;
}

/** The environment without its unset variables, as processes get it. */
export function definedVariables(env: DaemonHost['env']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
