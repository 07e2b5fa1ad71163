import { OperatorError } from '@addon-operator/base/errors';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { ModuleName } from '../values/module-key.ts';
import type { Task } from './tasks.ts';

/**
 * Ends what runs of a module on request of a user: hooks and helm are terminated, and waited for. The stage of the pipeline
 * that comes last before the handler, so everything that a handler does can be aborted.
 */
export class RunAborts {
  readonly #running = new Map<ModuleName, Set<AbortController>>();

  /**
   * Runs an attempt of a task. Ended by {@link abort}, a run of the module comes up again at once, for the request,
   * and a run of one of its hooks is over.
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

  /** Terminates what runs of the module; it ends a little later. */
  abort(module: ModuleName): void {
    const reason = runAborted(module);
    for (const controller of this.#running.get(module) ?? []) controller.abort(reason);
  }
}

/** The error of a run that a user aborted. */
export function runAborted(module: ModuleName): OperatorError {
  return new OperatorError('RUN_ABORTED', `The run of module "${module}" was aborted on request`);
}
