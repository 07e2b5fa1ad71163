import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Task } from '../model/tasks.ts';
import { isolatedModules } from '../queues/isolation.ts';
import { type PutOffParts, putOffText } from '../queues/put-off.ts';
import type { ModuleName } from '../values/module-key.ts';

/** The parts that know which modules failed. */
export interface ModulesLeftBehindParts {
  readonly registry: ModuleRegistry;
  readonly queues: QueueSet<Task>;
}

/**
 * Modules that a finished converge continued without: isolated, stalled or not authorized, in run
 * order.
 */
export function modulesLeftBehind(operator: ModulesLeftBehindParts): readonly ModuleName[] {
  const isolated = isolatedModules(operator);
  const isLeftBehind = (name: ModuleName): boolean =>
    isolated.includes(name) ||
    operator.registry.refusals.has(name) ||
    operator.registry.tracked.get(name)?.stall !== undefined;
  return operator.registry.modules.map(({ name }) => name).filter(isLeftBehind);
}

/**
 * Modules without a failure whose run or deletion a finished converge has deferred, with what they
 * wait for: a flow hook, or a module that a flow hook deferred. In run order.
 */
export function modulesPutOff(
  operator: ModulesLeftBehindParts & PutOffParts,
): ReadonlyMap<ModuleName, string> {
  const { pauses, registry } = operator;
  const failed = modulesLeftBehind(operator);
  const isPutOff = (name: ModuleName): boolean => {
    const state = registry.tracked.get(name)?.state;
    if (state === undefined || failed.includes(name)) return false;
    if (!registry.isEnabled(name)) return state.type === 'deleting';
    return state.isRunPending && pauses.of(name) === undefined;
  };
  const names = registry.modules.map(({ name }) => name).filter(isPutOff);
  return new Map(names.map((name) => [name, putOffText(operator, name)]));
}
