import type { OperatorError } from '../lib/errors.ts';
import type { ReleaseSteps } from './release-steps.ts';

/** All steps as one, in their order; undefined when there are none. */
export function combineSteps(parts: readonly (ReleaseSteps | undefined)[]): ReleaseSteps | undefined {
  const list = parts.filter((part) => part !== undefined);
  const [first, ...others] = list;
  if (first === undefined) return undefined;
  return others.length === 0 ? first : chained(list);
}

function chained(list: readonly ReleaseSteps[]): ReleaseSteps {
  const digests = list.map(({ digest }) => digest);
  return {
    digest: digests.every((digest) => digest === '') ? '' : JSON.stringify(digests),
    isOpen: list.some(({ isOpen }) => isOpen),
    ignoresObjects: list.every(({ ignoresObjects }) => ignoresObjects === true),
    isTriedOnce: list.some(({ isTriedOnce }) => isTriedOnce === true),
    transform: async (objects, signal) => {
      let result = objects;
      for (const steps of list) result = await steps.transform(result, signal);
      return result;
    },
    preview: async (objects, signal) => {
      let result = objects;
      for (const steps of list) {
        if (steps.isOpen) return (await steps.preview?.(result, signal)) ?? result;
        result = await steps.transform(result, signal);
      }
      return result;
    },
    beforeApply: async (objects, signal) => {
      for (const steps of list) await steps.beforeApply(objects, signal);
    },
    afterApply: async (release, signal) => {
      for (const steps of list) await steps.afterApply(release, signal);
    },
    onFailure: async (error, signal) => {
      let result: OperatorError = error;
      for (const steps of list) result = (await steps.onFailure?.(result, signal)) ?? result;
      return result;
    },
    whenDeployed: async (objects, signal) => {
      for (const steps of list) await steps.whenDeployed?.(objects, signal);
    },
  };
}
