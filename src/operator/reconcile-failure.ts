import { boundedDelay } from '../lib/bounded-time.ts';
import { codeOf, errorFields, hasCode, isPermanent, messageOf, retryAfterOf } from '../lib/errors.ts';
import type { TaskOutcome } from '../queue/task-queue.ts';
import { type ModuleState, noteRun } from './module-state.ts';
import type { Operator } from './operator.ts';
import { rethrowAbort } from './rethrow-abort.ts';
import type { ModuleDelete, ModuleRun, Task } from './tasks.ts';

/** Until a deletion is tried again that failed for good, or was aborted: it must not be lost. */
export const DELETE_RETRY_MS = 5 * 60_000;

interface Failure {
  readonly error: unknown;
  readonly startedMs: number;
  /** Attempts at the task so far. */
  readonly count: number;
}

/**
 * What becomes of a task whose reconcile failed. A run that fails for good is given up, so that the tasks behind it go
 * on; everything else is tried again.
 *
 * @throws the error when the daemon is ending
 */
export function failedReconcile(
  operator: Operator,
  task: ModuleRun | ModuleDelete,
  { error, startedMs, count }: Failure,
  signal: AbortSignal,
): TaskOutcome<Task> {
  rethrowAbort(error, signal);
  const { log, metrics, clock } = operator.deps;
  const { module } = task;
  const message = messageOf(error);
  const state = operator.registry.states.get(module);
  if (state !== undefined) state.lastError = message;
  if (task.type === 'ModuleDelete') {
    metrics.moduleDeleteError(module);
    log.error(
      { module, count, ...errorFields(error) },
      'ModuleDelete failed. Requeue task to retry after delay.',
    );
    return isPermanent(error) ? { type: 'retry', error, delayMs: DELETE_RETRY_MS } : { type: 'retry', error };
  }
  const askedMs = retryAfterOf(error);
  const delayMs = askedMs === undefined ? undefined : boundedDelay(askedMs);
  if (delayMs !== undefined) {
    if (state !== undefined) noteRun(state, startedMs, clock, 'failure');
    log.info({ module, reason: message, delayMs }, 'Module has to wait, ModuleRun is tried again later');
    return { type: 'retry', error, delayMs };
  }
  metrics.moduleRunError(module);
  if (state !== undefined) {
    noteRun(state, startedMs, clock, 'failure');
    if (isPermanent(error)) {
      giveUp(operator, state, error);
      return { type: 'success' };
    }
  }
  log.error(
    { module, phase: state?.phase, count, ...errorFields(error) },
    'ModuleRun failed. Requeue task to retry after delay.',
  );
  return { type: 'retry', error };
}

/** The module counts as failed, and is left so until something about it changes. */
export function giveUp({ deps: { log } }: Operator, state: ModuleState, error: unknown): void {
  const message = messageOf(error);
  const code = codeOf(error);
  state.givenUp = {
    error: message,
    ...(code !== undefined && { code }),
    isByRequirement: hasCode(error, 'REQUIREMENT_FAILED'),
  };
  state.lastError = message;
  state.pendingWork = 'none';
  log.error(
    { module: state.module.name, phase: state.phase, ...errorFields(error) },
    'ModuleRun failed for good. It is not tried again until values, ConfigMap or files change, or somebody asks for it.',
  );
}
