import type { ModuleOperations } from '../model/module-operations.ts';
import type { Place } from '../model/module-places.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { Task } from '../model/tasks.ts';
import type { ModuleName } from '../values/module-key.ts';
import { awaitedRequirement } from './required-modules.ts';

/** The parts that show pending work of a module. */
export interface PutOffParts {
  readonly registry: ModuleRegistry;
  readonly operations: Pick<ModuleOperations, 'of'>;
  readonly pauses: Pick<Pauses, 'of'>;
}

const RECONCILES: ReadonlySet<Task['type']> = new Set(['ModuleRun', 'ModuleDelete', 'ParallelModuleRun']);

const BY_FLOW_HOOK =
  'another reconcile: a flow hook ended the last one before all changes and requests were handled';

/**
 * Whether a module has pending work, but neither a task nor a pause: a flow hook ended its
 * reconcile early, or a required module has to be ready first. Explain and status would otherwise
 * show it as waiting for nothing.
 *
 * @param places where the tasks of the module are queued
 */
export function isPutOff(operator: PutOffParts, name: ModuleName, places: readonly Place[]): boolean {
  const tracked = operator.registry.tracked.get(name);
  if (tracked === undefined || tracked.ongoing !== undefined) return false;
  const { type, isRunPending } = tracked.state;
  const isPending = isRunPending || type === 'deleting' || operator.operations.of(name) !== undefined;
  if (!isPending) return false;
  // A pause does not delay a deletion.
  if (operator.registry.isEnabled(name) && operator.pauses.of(name) !== undefined) return false;
  return !places.some(({ entry: { task } }) => RECONCILES.has(task.type));
}

/** A phrase for what a deferred module waits for. */
export function putOffText(operator: PutOffParts, name: ModuleName): string {
  const awaited = awaitedBy(operator, name);
  if (awaited === undefined) return BY_FLOW_HOOK;
  return `module ${awaited}, which ${whyNotReady(operator, awaited)}`;
}

function whyNotReady(operator: PutOffParts, name: ModuleName): string {
  if (operator.registry.tracked.get(name)?.ongoing !== undefined) return 'runs';
  const awaited = awaitedBy(operator, name);
  return awaited === undefined ? 'a flow hook put off' : `waits for module ${awaited}`;
}

function awaitedBy(operator: PutOffParts, name: ModuleName): ModuleName | undefined {
  const module = operator.registry.find(name);
  if (module === undefined || !operator.registry.isEnabled(name)) return undefined;
  return awaitedRequirement(operator, module);
}
