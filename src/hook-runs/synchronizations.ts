import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import { synchronizedBindings } from '../hooks/binding-context.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { originOf } from '../model/task-origin.ts';
import { MAIN_QUEUE, type Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { isWaitedFor } from './finish-synchronization.ts';

export interface SynchronizationsParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly queues: QueueSet<Task>;
}

/**
 * Queues the first runs of kubernetes bindings, which give a hook the objects that exist already.
 * Module runs, global hooks and reloads call it after the monitors have started;
 * `finishSynchronization` ends what begins here.
 */
export class Synchronizations {
  readonly #parts: SynchronizationsParts;

  constructor(parts: SynchronizationsParts) {
    this.#parts = parts;
  }

  /** The bindings whose Synchronization runs now or waits in a queue. */
  get queued(): ReadonlySet<KubernetesBinding> {
    const tasks = this.#parts.queues.all.flatMap(({ entries }) => entries.map(({ task }) => task));
    return new Set(tasks.flatMap((task) => ('reasons' in task ? synchronizedBindings(task.reasons) : [])));
  }

  /**
   * Creates one Synchronization run per kubernetes binding. Runs for other queues are appended
   * there; runs for `main` are returned, because only the caller knows their position.
   *
   * @param requester the task that requests them, whose origin they get
   * @param belongs filters the bindings
   */
  queue(
    runtimes: readonly HookRuntime[],
    requester: Task,
    belongs: (binding: KubernetesBinding) => boolean = () => true,
  ): readonly Task[] {
    const { router, converge, queues } = this.#parts;
    const forMain: Task[] = [];
    for (const runtime of runtimes) {
      for (const binding of runtime.hook.config.kubernetes.filter(belongs)) {
        const run = router.synchronizationRun(runtime, binding, converge.activation);
        const task = { ...run, ...originOf(requester) };
        // Expected before it is queued: a fast run would otherwise be done before anything waits
        // for it.
        router.synchronizationOf(runtime.hook.owner)?.expect(binding, isWaitedFor(binding));
        if (binding.queue === MAIN_QUEUE) forMain.push(task);
        else queues.get(binding.queue).append(task);
      }
    }
    return forMain;
  }

  /**
   * Queues the Synchronizations of enabled modules that were dropped or missed; returns those for
   * `main`.
   */
  queueMissed(requester: Task): readonly Task[] {
    const { registry } = this.#parts;
    return [...registry.tracked.values()].flatMap(({ module, hooks, synchronization }) =>
      registry.isWanted(module.name)
        ? this.queue(hooks ?? [], requester, (binding) => synchronization.isLost(binding))
        : [],
    );
  }
}
