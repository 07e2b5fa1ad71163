import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { LifecycleBinding } from '../hook-config/binding-kinds.ts';
import type { HookExecution } from '../hook-runs/hook-execution.ts';
import { taskLogger } from '../hook-runs/hook-run.ts';
import type { SettingsChecks } from '../hook-runs/settings-checks.ts';
import { bindingCount, queuesOf } from '../hooks/hook.ts';
import type { Journal } from '../journal/journal.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { runtimesInOrder } from '../model/hook-runtime.ts';
import type { HookBindings, ModuleSources } from '../model/services.ts';
import { originOf } from '../model/task-origin.ts';
import type { ModuleHookRun, Task, TaskOrigin } from '../model/tasks.ts';
import type { TrackedModule } from '../model/tracked-module.ts';

/** The parts that load and run the hooks of a module. */
export interface ModuleLifecycleParts {
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly queues: QueueSet<Task>;
  readonly execution: HookExecution;
  readonly sources: Pick<ModuleSources, 'loadModuleHooks'>;
  readonly bindings: Pick<HookBindings, 'createRuntime'>;
  readonly journal: Pick<Journal, 'enterPhase' | 'spanIn'>;
  readonly settingsChecks: Pick<SettingsChecks, 'checkInForce'>;
}

const VALUES_CHANGED = { 'addon_operator.values_changed': true };

/** The context of lifecycle hooks. */
export interface LifecycleRun {
  readonly activation: string;
  /** Name of the queue whose task runs them. */
  readonly queue: string;
  /** The task that runs them. */
  readonly task: TaskOrigin;
  /** The number of the attempt at the task, from 1. */
  readonly attempt: number;
}

/** Loads the hooks of a module, and runs them in the phases of its runs and of its deletion. */
export class ModuleLifecycle {
  readonly #parts: ModuleLifecycleParts;

  constructor(parts: ModuleLifecycleParts) {
    this.#parts = parts;
  }

  /**
   * Loads the configuration of the module's hooks, unless that was done since it was enabled, and
   * creates the queues that their bindings name.
   */
  async ensureHooks(tracked: TrackedModule, signal: AbortSignal): Promise<void> {
    if (tracked.hooks !== undefined) return;
    const { loadModuleHooks } = this.#parts.sources;
    const { createRuntime } = this.#parts.bindings;
    const { metrics, queues } = this.#parts;
    const hooks = await loadModuleHooks(tracked.module, signal);
    tracked.apply({ type: 'hooks-loaded', hooks: hooks.map(createRuntime) });
    for (const hook of hooks) {
      metrics.setBindingCount(tracked.module.name, hook.name, bindingCount(hook));
      // Created now, so that `queue list` shows them before the first event.
      for (const queue of queuesOf(hook)) queues.get(queue);
    }
  }

  /** @throws OperatorError VALUES_INVALID when the module refuses its section of the ConfigMap */
  async checkSettings(tracked: TrackedModule, signal: AbortSignal): Promise<void> {
    await this.#parts.settingsChecks.checkInForce(tracked, signal);
  }

  /**
   * Runs the hooks with a lifecycle binding, one after another.
   *
   * @throws OperatorError of the first hook that fails; the following ones do not run
   */
  async run(
    tracked: TrackedModule,
    binding: LifecycleBinding,
    { activation, queue, task }: LifecycleRun,
    signal: AbortSignal,
  ): Promise<void> {
    const runtimes = runtimesInOrder(tracked.hooks ?? [], binding);
    if (runtimes.length > 0) this.#parts.journal.enterPhase(queue, binding);
    for (const runtime of runtimes) {
      const run: ModuleHookRun = {
        type: 'ModuleHookRun',
        module: tracked.module.name,
        hook: runtime,
        binding,
        reasons: [{ type: 'lifecycle', binding }],
        allowFailure: false,
        trigger: binding,
        activation,
        // The task repeats all of them, so each hook keeps its idempotency key across attempts.
        repeatedBy: task,
        ...originOf(task),
      };
      tracked.enterPart({ type: 'hook', hook: runtime.hook, binding });
      await runtime.waitForTurn(signal);
      try {
        const effects = await this.#parts.execution.run(
          run,
          queue,
          taskLogger(this.#parts.log, run, queue),
          signal,
        );
        if (effects.areValuesChanged) this.#parts.journal.spanIn(queue).set(VALUES_CHANGED);
      } catch (cause) {
        if (signal.aborted || !(cause instanceof OperatorError)) throw cause;
        throw new OperatorError(cause.code, `run hooks by binding ${binding}: ${messageOf(cause)}`, {
          cause,
        });
      }
    }
    tracked.enterPart(undefined);
  }
}
