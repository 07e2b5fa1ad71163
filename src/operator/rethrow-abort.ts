import { hasCode } from '@addon-operator/base/errors';

/**
 * Throws what a task met because the daemon ends it or no longer starts processes: that is no failure of the task, and
 * is not logged.
 */
export function rethrowAbort(error: unknown, signal: AbortSignal): void {
  signal.throwIfAborted();
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (hasCode(cause, 'ABORTED')) throw error;
}
