import { OperatorError } from '@addon-operator/base/errors';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { ModuleName } from '../values/module-key.ts';
import type { Task } from './tasks.ts';

/**
 * Ends running tasks of a module on request of a user: hooks and helm are terminated, and awaited.
 * It is the last stage of the pipeline before the handler, so that everything a handler does can be
 * aborted.
 */
export class RunAborts {
  readonly #running = new Map<ModuleName, Set<AbortController>>();

  /**
   * Runs an attempt of a task. After {@link abort}, a run of the module is repeated at once, for
   * the request, and a run of one of its hooks counts as finished.
   */
  async run(
    task: Task,
    signal: AbortSignal,
    attempt: (signal: AbortSignal) => Promise<TaskOutcome<Task>>,
  ): Promise<TaskOutcome<Task>> {
    if (task.type !== 'ModuleRun' && task.type !== 'ModuleDelete' && task.type !== 'ModuleHookRun')
      return attempt(signal);
    const { module } = task;
    const own = new AbortController();
    const running = this.#running.get(module) ?? new Set<AbortController>();
    this.#running.set(module, running.add(own));
    try {
      return await attempt(AbortSignal.any([signal, own.signal]));
    } catch (error) {
      if (!own.signal.aborted || signal.aborted) throw error;
      return { type: task.type === 'ModuleHookRun' ? 'success' : 'repeat' };
    } finally {
      running.delete(own);
      if (running.size === 0) this.#running.delete(module);
    }
  }

  /** Aborts the running attempts of the module; they end a little later. */
  abort(module: ModuleName): void {
    const reason = runAborted(module);
    for (const controller of this.#running.get(module) ?? []) controller.abort(reason);
  }
}

/** The error of a run that a user aborted. */
export function runAborted(module: ModuleName): OperatorError {
  return new OperatorError('RUN_ABORTED', `The run of module "${module}" was aborted on request`);
}
