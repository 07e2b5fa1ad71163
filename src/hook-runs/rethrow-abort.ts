import { hasCode } from '@addon-operator/base/errors';
import { restartIn } from './restart-hooks.ts';

/**
 * Rethrows an error that is no failure of the task: the daemon is stopping, may not start processes
 * any more, or restarts a hook whose file has changed. Handlers call it first in their `catch`, so
 * that nothing is logged for such an error.
 */
export function rethrowAbort(error: unknown, signal: AbortSignal): void {
  signal.throwIfAborted();
  if (restartIn(error) !== undefined) throw error;
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (hasCode(cause, 'ABORTED')) throw error;
}
