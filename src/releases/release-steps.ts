import type { OperatorError } from '@addon-operator/base/errors';
import type { ManifestObject } from '@addon-operator/helm/manifest-object';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';

/** The content of a release after helm has applied it. */
export interface AppliedRelease {
  readonly revision: number;
  /** As they were sent to the cluster, without helm hooks. */
  readonly objects: readonly KubeObject[];
  /** Objects that the last deployed revision did not have; for a first one all of them. */
  readonly added: readonly KubeObject[];
}

/**
 * Steps of other rooms during a deployment. The methods are called in this order, once per helm
 * process; an error ends the deployment with it, and nothing is applied unless it was before.
 */
export interface ReleaseSteps {
  /**
   * A digest of everything that affects `transform`, part of the digest of inputs; empty when
   * `transform` changes nothing.
   */
  readonly digest: string;
  /**
   * `transform` may return a different result each time, so the chart is rendered although no input
   * has changed.
   */
  readonly isOpen: boolean;
  /**
   * The steps need no objects: `transform` is not called and the others get none, so manifests that
   * only helm can parse are no failure.
   */
  readonly ignoresObjects?: boolean;
  /**
   * A failed helm is not retried at once, since the steps before this deployment have to be
   * repeated too.
   */
  readonly isTriedOnce?: boolean;
  /**
   * Returns the objects to apply for the rendered ones, without helm hooks. Our labels are added
   * afterwards.
   */
  transform(objects: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]>;
  /** For open steps: the part of `transform` that is known without effects; default: none. */
  preview?(objects: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]>;
  /** Called right before objects are applied; not called when nothing has changed. */
  beforeApply(objects: readonly KubeObject[], signal: AbortSignal): Promise<void>;
  afterApply(release: AppliedRelease, signal: AbortSignal): Promise<void>;
  /**
   * Called instead of `afterApply` when helm failed; returns the error to throw. A permanent error
   * is not retried.
   */
  onFailure?(error: OperatorError, signal: AbortSignal): Promise<OperatorError>;
  /**
   * Called last in every deployment, also when nothing was applied; throws while the release is not
   * as it should be.
   */
  whenDeployed?(objects: readonly ManifestObject[], signal: AbortSignal): Promise<void>;
}

/** Steps of other rooms around the uninstall of a release. */
export interface UninstallSteps {
  /**
   * Gets the objects of the release. It has to call `uninstall` once, with the objects that helm
   * must keep, or throw before: then nothing was removed.
   */
  around(
    objects: readonly KubeObject[],
    uninstall: (kept: readonly KubeObject[]) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
}

/** Combines steps in their order; undefined without any. */
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
        // Behind an open step nothing is certain, so the preview ends with it.
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
