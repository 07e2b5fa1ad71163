import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ConvergeState } from '../model/converge-state.ts';
import { hookTitle, taskOfRun } from '../model/running-hooks.ts';
import type { Task } from '../model/tasks.ts';
import type { HookExecution } from './hook-execution.ts';

/** The parts that know running hooks and pending reloads. */
export interface RestartHooksParts {
  readonly execution: Pick<HookExecution, 'running'>;
  readonly queues: QueueSet<Task>;
  readonly converge: Pick<ConvergeState, 'untilReloaded'>;
  readonly log: Logger;
}

/**
 * The reason that ends a run whose hook file has changed: its task is repeated, and no failure is
 * recorded.
 */
export class RestartRequest extends OperatorError {
  /** The task waits for this before it is repeated; undefined: not at all. */
  readonly when: Promise<void> | undefined;

  constructor(hook: string, when: Promise<void> | undefined) {
    super('RUN_ABORTED', `The file of hook ${hook} has changed while it was running`);
    this.when = when;
  }
}

/**
 * Ends runs of hooks with `settings.restartOnChange` whose files have changed; their tasks run
 * again with the new files. Called when the reload of the files is queued. Requests to webhooks are
 * not restarted, because a client waits for them.
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
    // An executable is read from disk at each start. Other transports, and the indexes of batch
    // files, are known from their last load.
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

/** The restart request among the causes of an error; undefined without one. */
export function restartIn(error: unknown): RestartRequest | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof RestartRequest) return cause;
  return undefined;
}
