import { OperatorError } from '@addon-operator/base/errors';
import type { Module } from '../modules/module.ts';
import type { ModuleRegistry } from './module-registry.ts';
import type { TaskRouter } from './task-router.ts';

/** What the functions here use of the operator. */
export interface FailedRequirementsParts {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
}

/**
 * Makes sure that no module is stalled which this one requires.
 *
 * @throws OperatorError REQUIREMENT_FAILED, for good: when the other module succeeds, this one is run by itself
 */
export function checkRequirements({ registry }: FailedRequirementsParts, { name, manifest }: Module): void {
  for (const required of manifest.requires) {
    const failure = required.isOptional ? undefined : registry.tracked.get(required.name)?.stall;
    if (failure === undefined) continue;
    throw new OperatorError(
      'REQUIREMENT_FAILED',
      `Module "${name}" requires "${required.name}", which failed permanently: ${failure.error}`,
      { isPermanent: true },
    );
  }
}

/** Runs the modules that are stalled because this one was. */
export function runDependents(operator: FailedRequirementsParts, { name }: Module): void {
  for (const { module, stall } of operator.registry.tracked.values())
    if (stall?.isByRequirement === true)
      if (module.manifest.requires.some((required) => required.name === name))
        operator.router.queueModuleRun(module.name, 'Requirement-Succeeded');
}
