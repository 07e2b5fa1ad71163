import { redactedError } from '../lib/redacted-error.ts';
import type { Redactor } from '../lib/redactor.ts';
import type { TaskHandler } from '../queue/task-queue.ts';

/** A handler whose failures tell no secret: they are shown in queues, and on the terminal. */
export function withoutSecrets<T>(handle: TaskHandler<T>, redactor: Redactor): TaskHandler<T> {
  return async (entry, queue, signal) => {
    const outcome = await handle(entry, queue, signal);
    return outcome.type === 'retry' ? { ...outcome, error: redactedError(outcome.error, redactor) } : outcome;
  };
}
