import { combineSteps } from '../helm/combine-steps.ts';
import type { ReleaseSteps } from '../helm/release-steps.ts';
import type { Module } from '../modules/module.ts';

/** What one kind of extension does while a module is deployed; undefined when it has nothing to do with this one. */
export type StepsFor = (
  module: Module,
  signal: AbortSignal,
) => ReleaseSteps | undefined | Promise<ReleaseSteps | undefined>;

/** What all extensions do, in the order of the list. */
export function releaseStepsOf(
  parts: readonly StepsFor[],
): (module: Module, signal: AbortSignal) => Promise<ReleaseSteps | undefined> {
  return async (module, signal) => {
    const steps: ReleaseSteps[] = [];
    for (const part of parts) {
      const own = await part(module, signal);
      if (own !== undefined) steps.push(own);
    }
    return combineSteps(steps);
  };
}
