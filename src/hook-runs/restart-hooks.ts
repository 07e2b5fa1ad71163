import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ConvergeState } from '../model/converge-state.ts';
import { hookTitle, taskOfRun } from '../model/running-hooks.ts';
import type { Task } from '../model/tasks.ts';
import type { HookExecution } from './hook-execution.ts';

/** What the functions here use of the operator. */
export interface RestartHooksParts {
  readonly execution: Pick<HookExecution, 'running'>;
  readonly queues: QueueSet<Task>;
  readonly converge: Pick<ConvergeState, 'untilReloaded'>;
  readonly log: Logger;
}

/** Ends a run because the file of the hook has changed: its task is repeated, which is no failure. */
export class RestartRequest extends OperatorError {
  /** The task is not repeated before; undefined: at once. */
  readonly when: Promise<void> | undefined;

  constructor(hook: string, when: Promise<void> | undefined) {
    super('RUN_ABORTED', `The file of hook ${hook} has changed while it was running`);
    this.when = when;
  }
}

/**
 * Ends runs of hooks with `settings.restartOnChange` whose files have changed: their tasks are run again with the new files.
 * To be called when the reload of the files is queued. Requests to webhooks are not restarted.
 *
 * @param paths absolute
 */
export function restartChangedHooks(operator: RestartHooksParts, paths: ReadonlySet<string>): void {
  const { execution, queues, converge, log } = operator;
  for (const run of execution.running.all) {
    const { hook } = run;
    if (hook.config.settings.restartOnChange !== true || !paths.has(hook.path)) continue;
    if (taskOfRun(queues, run) === undefined) continue;
    log.info({ ...run.labels }, 'the file of a running hook has changed: its run is restarted');
    // An executable is its file; what the operator knows of others, indexes among them, is from their last load.
    const isItsFile = hook.transport === 'executable' && hook.batch === undefined;
    const when = isItsFile ? undefined : converge.untilReloaded();
    run.abort(new RestartRequest(hookTitle(run), when));
  }
}

/** The outcome of an attempt that ended with this error; undefined for errors that are no {@link RestartRequest}. */
export function outcomeOfRestart(error: unknown): TaskOutcome<Task> | undefined {
  const request = restartIn(error);
  if (request === undefined) return undefined;
  return { type: 'repeat', ...(request.when !== undefined && { when: request.when }) };
}

/** The restart that an error goes back to; undefined without one. */
export function restartIn(error: unknown): RestartRequest | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof RestartRequest) return cause;
  return undefined;
}
