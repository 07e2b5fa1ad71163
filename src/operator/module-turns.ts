import type { TaskOutcome } from '../queue/task-queue.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Task } from './tasks.ts';

/** Sees to it that the chart and the state of a module are in the hands of one task at a time, whatever its queue. */
export class ModuleTurns {
  readonly #busy = new Map<ModuleName, Promise<unknown>>();

  /** Runs the attempt; while another queue is at work on the module the task is to be repeated when that is over. */
  async run(task: Task, attempt: () => Promise<TaskOutcome<Task>>): Promise<TaskOutcome<Task>> {
    const module = exclusiveModuleOf(task);
    if (module === undefined) return attempt();
    const other = this.#busy.get(module);
    if (other !== undefined) return { type: 'repeat', when: other };
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#busy.set(module, promise);
    try {
      return await attempt();
    } finally {
      this.#busy.delete(module);
      resolve();
    }
  }
}

function exclusiveModuleOf(task: Task): ModuleName | undefined {
  switch (task.type) {
    case 'ModuleRun':
    case 'ModuleDelete':
    case 'ModuleEnsureCRDs':
      return task.module;
    case 'ModuleHookRun':
    case 'GlobalHookRun':
    case 'GlobalHookEnableScheduleBindings':
    case 'GlobalHookEnableKubernetesBindings':
    case 'GlobalHookWaitKubernetesSynchronization':
    case 'ConvergeModules':
    case 'ParallelModuleRun':
    case 'ApplyKubeConfigValues':
    case 'ReloadFiles':
    case 'DiscoverHelmReleases':
    case 'ModulePurge':
      return undefined;
  }
}
