import { OperatorError } from '@addon-operator/base/errors';
import { headlineOf } from '@addon-operator/strings/headline';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { TaskRouter } from './task-router.ts';

/** What the functions here use of the operator. */
export interface RequiredModulesParts {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly pauses: Pick<Pauses, 'of'>;
}

/**
 * Makes sure that no module is stalled which this one requires.
 *
 * @throws OperatorError REQUIREMENT_FAILED, for good: when the other module succeeds, this one is run by itself
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
 * The required module that has to be ready before this one runs; undefined if there is none. The order of the queue sees
 * to that, unless a flow hook has put off the run of the other module. A pause of it is not waited for.
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

/** Runs the modules that are stalled because this one was. */
export function runDependents(operator: RequiredModulesParts, module: Module): void {
  for (const { name, stall } of dependents(operator, module))
    if (stall?.isByRequirement === true) operator.router.queueModuleRun(name, 'Requirement-Succeeded');
}

/** Runs the modules that may have waited until this one is ready, or is not waited for any more. */
export function runWaiting(operator: RequiredModulesParts, module: Module): void {
  for (const { name, isRunPending } of dependents(operator, module))
    if (isRunPending) operator.router.queueModuleRun(name, 'Requirement-Ready');
}

function dependents({ registry }: Pick<RequiredModulesParts, 'registry'>, { name }: Module) {
  return [...registry.tracked.values()]
    .filter(({ module }) => module.manifest.requires.some((required) => required.name === name))
    .map(({ module, stall, state }) => ({ name: module.name, stall, isRunPending: state.isRunPending }));
}
