import type { QueueEntry, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { Model } from '../model/model.ts';
import type { Releases } from '../model/releases.ts';
import type { HookBindings, Telemetry } from '../model/services.ts';
import type { GlobalHookRun, ModuleHookRun, Task } from '../model/tasks.ts';
import type { Queueing } from '../queues/create-queues.ts';
import type { ValuesStore } from '../values/values-store.ts';
import {
  handleEnableKubernetes,
  handleEnableSchedules,
  handleWaitSynchronization,
} from './enable-global-hook.ts';
import { type GlobalHookRunParts, handleGlobalHookRun } from './global-hook-run.ts';
import type { HookExecution } from './hook-execution.ts';
import { handleModuleHookRun } from './module-hook-run.ts';
import type { Synchronizations } from './synchronizations.ts';

export interface HookTasksParts {
  readonly model: Pick<Model, 'registry' | 'globalHooks'>;
  readonly queueing: Pick<Queueing, 'queues' | 'router'>;
  readonly telemetry: Telemetry;
  readonly values: ValuesStore;
  readonly releases: Releases;
  readonly execution: HookExecution;
  readonly bindings: Pick<HookBindings, 'setSchedules'>;
  readonly synchronizations: Synchronizations;
}

type Outcome = TaskOutcome<Task>;

/** The handlers of all hook tasks, called by the last stage of `operator/task-pipeline.ts`. */
export interface HookTasks {
  readonly runGlobal: (
    entry: QueueEntry<Task>,
    task: GlobalHookRun,
    queue: TaskQueue<Task>,
    signal: AbortSignal,
  ) => Promise<Outcome>;
  readonly runOfModule: (
    entry: QueueEntry<Task>,
    task: ModuleHookRun,
    queue: TaskQueue<Task>,
    signal: AbortSignal,
  ) => Promise<Outcome>;
  readonly enableSchedules: (hook: HookRuntime) => Outcome;
  readonly enableKubernetes: (
    task: Extract<Task, { type: 'GlobalHookEnableKubernetesBindings' }>,
    signal: AbortSignal,
  ) => Promise<Outcome>;
  readonly waitSynchronization: () => Outcome;
}

// Each handler gets only the parts that it uses; the bags below are shared by several of them.
export function createHookTasks({
  model,
  queueing,
  telemetry,
  values,
  releases,
  execution,
  bindings,
  synchronizations,
}: HookTasksParts): HookTasks {
  const { registry, globalHooks } = model;
  const { queues, router } = queueing;
  const { clock, log, metrics } = telemetry;
  const runs: GlobalHookRunParts = { registry, router, clock, log, metrics, execution, values, releases };
  const enabling = { globalHooks, bindings, synchronizations, router, log, queues };
  return {
    runGlobal: (entry, task, queue, signal) => handleGlobalHookRun(runs, entry, task, queue, signal),
    runOfModule: (entry, task, queue, signal) => handleModuleHookRun(runs, entry, task, queue, signal),
    enableSchedules: (hook) => handleEnableSchedules(enabling, hook),
    enableKubernetes: (task, signal) => handleEnableKubernetes(enabling, task, signal),
    waitSynchronization: () => handleWaitSynchronization(enabling),
  };
}
