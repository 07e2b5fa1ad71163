import type { Clock } from '@addon-operator/base/clock';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ConvergeState } from './converge-state.ts';
import type { GlobalHooks } from './global-hooks.ts';
import type { HookExecution } from './hook-execution.ts';
import type { ModuleOperations } from './module-operations.ts';
import type { ModuleRegistry } from './module-registry.ts';
import type { Pauses } from './pauses.ts';
import type { Releases } from './releases.ts';
import type { TaskRouter } from './task-router.ts';
import type { Task } from './tasks.ts';

/** What the state of modules is read from. */
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
}
