import { OperatorError } from '@addon-operator/base/errors';
import { headlineOf } from '@addon-operator/strings/headline';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { TaskRouter } from './task-router.ts';

/** The parts that know modules, pauses and queued runs. */
export interface RequiredModulesParts {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly pauses: Pick<Pauses, 'of'>;
}

/**
 * Throws if a required module is stalled.
 *
 * @throws OperatorError REQUIREMENT_FAILED, which is permanent: the success of the other module
 *   runs this one again
 */
export function checkRequirements(
  { registry }: Pick<RequiredModulesParts, 'registry'>,
  { name, manifest }: Module,
): void {
  for (const required of manifest.requires) {
    const failure = required.isOptional ? undefined : registry.tracked.get(required.name)?.stall;
    if (failure === undefined) continue;
    throw new OperatorError(
      'REQUIREMENT_FAILED',
      `Module "${name}" requires "${required.name}", which failed permanently: ${headlineOf(failure.error)}`,
      { isPermanent: true },
    );
  }
}

/**
 * The required module that has to be ready before this one runs; undefined if there is none. The
 * order of the queue ensures that, unless a flow hook deferred the run of the other module. A
 * paused module is not waited for, or a pause would stop all its dependents.
 */
export function awaitedRequirement(
  { registry, pauses }: Pick<RequiredModulesParts, 'registry' | 'pauses'>,
  { manifest }: Module,
): ModuleName | undefined {
  return manifest.requires.find(({ name, isOptional }) => {
    const tracked = registry.tracked.get(name);
    if (isOptional || tracked === undefined || tracked.stall !== undefined) return false;
    return registry.isWanted(name) && !registry.hasBeenReady(name) && pauses.of(name) === undefined;
  })?.name;
}

/** Runs the modules that stalled because this one was stalled. */
export function runDependents(operator: RequiredModulesParts, module: Module): void {
  for (const { name, stall } of dependents(operator, module))
    if (stall?.isByRequirement === true) operator.router.queueModuleRun(name, 'Requirement-Succeeded');
}

/** Runs the modules that waited for this one, when it is ready or no longer waited for. */
export function runWaiting(operator: RequiredModulesParts, module: Module): void {
  for (const { name, isRunPending } of dependents(operator, module))
    if (isRunPending) operator.router.queueModuleRun(name, 'Requirement-Ready');
}

function dependents({ registry }: Pick<RequiredModulesParts, 'registry'>, { name }: Module) {
  return [...registry.tracked.values()]
    .filter(({ module }) => module.manifest.requires.some((required) => required.name === name))
    .map(({ module, stall, state }) => ({ name: module.name, stall, isRunPending: state.isRunPending }));
}
