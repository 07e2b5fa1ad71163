import { hasCode } from '@addon-operator/base/errors';
import { restartIn } from './restart-hooks.ts';

/**
 * Throws what a task met because the daemon ends it, no longer starts processes, or restarts a hook whose file has changed:
 * that is no failure of the task, and is not logged.
 */
export function rethrowAbort(error: unknown, signal: AbortSignal): void {
  signal.throwIfAborted();
  if (restartIn(error) !== undefined) throw error;
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (hasCode(cause, 'ABORTED')) throw error;
}
