import type { Clock } from '@addon-operator/base/clock';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { HookExecution } from '../hook-runs/hook-execution.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { Model } from '../model/model.ts';
import type { ModuleOperations } from '../model/module-operations.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { PendingUpdates } from '../model/pending-updates.ts';
import type { Releases } from '../model/releases.ts';
import type { StatusTimes } from '../model/status-times.ts';
import type { Task } from '../model/tasks.ts';
import type { Queueing } from '../queues/create-queues.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { UpdateSources } from './explain-update.ts';

/** The parts that the state of modules is read from. */
export interface Explained {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly globalHooks: GlobalHooks;
  readonly router: TaskRouter;
  readonly operations: ModuleOperations;
  readonly clock: Clock;
  readonly queues: QueueSet<Task>;
  readonly execution: HookExecution;
  readonly releases: Releases;
  readonly pauses: Pick<Pauses, 'of' | 'isOfAll'>;
  readonly updates: Pick<PendingUpdates, 'of'>;
  readonly statusTimes: StatusTimes;
  /** Modules that come from sources; absent without a module store. */
  readonly delivery?: UpdateSources['delivery'];
}

/** Selects these parts from the rooms that own them. */
export function explainedOf({
  model,
  queueing,
  clock,
  execution,
  releases,
  delivery,
}: {
  readonly model: Model;
  readonly queueing: Queueing;
  readonly clock: Clock;
  readonly execution: HookExecution;
  readonly releases: Releases;
  readonly delivery?: UpdateSources['delivery'];
}): Explained {
  const { registry, converge, globalHooks, operations, pauses, updates, statusTimes } = model;
  const { queues, router } = queueing;
  return {
    registry,
    converge,
    globalHooks,
    router,
    operations,
    clock,
    queues,
    execution,
    releases,
    pauses,
    updates,
    statusTimes,
    delivery,
  };
}
