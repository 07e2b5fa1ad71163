import type { OperatorError } from '@addon-operator/base/errors';
import type { ManifestObject } from '@addon-operator/helm/manifest-object';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';

/** What a release consists of once helm has applied it. */
export interface AppliedRelease {
  readonly revision: number;
  /** As they were sent to the cluster, helm's own hooks left out. */
  readonly objects: readonly KubeObject[];
  /** Those that the last revision which was deployed did not have, such as all of a first one. */
  readonly added: readonly KubeObject[];
}

/**
 * Steps of other rooms while a release is deployed. The methods are called in the order of this list, once for
 * each helm process; what one throws ends the deployment with that error, nothing applied unless it was before.
 */
export interface ReleaseSteps {
  /** Digest of everything that decides the result of `transform`, part of the digest of inputs; empty when `transform` changes nothing. */
  readonly digest: string;
  /** `transform` may return a different result each time, so the chart is rendered although no input has changed. */
  readonly isOpen: boolean;
  /** Objects do not matter: `transform` is not called and the others get none, so text that only helm can read is no failure. */
  readonly ignoresObjects?: boolean;
  /** A helm that failed is not called again at once: what was done before this deployment has to be done anew, too. */
  readonly isTriedOnce?: boolean;
  /** Takes the rendered objects without helm's own hooks and returns the objects to apply. Our labels are set afterwards. */
  transform(objects: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]>;
  /** For open steps: the part of the result of `transform` that is known without effects; default: none. */
  preview?(objects: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]>;
  /** Something will be applied as soon as this resolves. Not called when nothing has changed. */
  beforeApply(objects: readonly KubeObject[], signal: AbortSignal): Promise<void>;
  afterApply(release: AppliedRelease, signal: AbortSignal): Promise<void>;
  /** Called in place of `afterApply` when helm failed; returns the error to end with. After a permanent error helm is not retried. */
  onFailure?(error: OperatorError, signal: AbortSignal): Promise<OperatorError>;
  /** Last at every deployment, also when nothing had to be applied; throws while the release is not as it should be. */
  whenDeployed?(objects: readonly ManifestObject[], signal: AbortSignal): Promise<void>;
}

/** What others do while a release is uninstalled. */
export interface UninstallSteps {
  /**
   * Gets what the release consists of. Has to call `uninstall` once, with those that helm must leave alone, or throw
   * before: then nothing was removed.
   */
  around(
    objects: readonly KubeObject[],
    uninstall: (kept: readonly KubeObject[]) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
}

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
