import type { Span } from '@addon-operator/base/trace';
import type { ReleaseStatus } from '@addon-operator/helm/recovery-table';
import type { ReleaseHistory } from '@addon-operator/helm/release-history';
import type { JsonObject } from '@addon-operator/json';
import type { Module } from '../modules/module.ts';
import { preflight } from '../modules/preflight.ts';
import type { DriftReport } from '../releases/drift/drift-policy.ts';
import type { RefusedObject } from '../releases/dry-run.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import type { DeployedSource } from '../releases/record-source.ts';
import type { UnlockResult } from '../releases/recover.ts';
import type { ReleaseSteps, UninstallSteps } from '../releases/release-steps.ts';
import type { UninstallResult } from '../releases/uninstall.ts';
import type { ReleaseFacts } from '../status/module-facts.ts';

export interface ReleaseInCluster {
  readonly name: string;
  readonly revision: number;
  /** Of the newest revision. */
  readonly status: ReleaseStatus;
  /** Whether this operator owns it. */
  readonly isOwned: boolean;
  /** Set when the release stays although its module is gone. */
  readonly isKept?: boolean;
}

/** The helm operations that the operator uses. The release of a module has the module's name. */
export interface Releases {
  /**
   * Brings the release to the chart and the values; does nothing if it is there already. With
   * `mayShareReads`, cached reads made for other modules a moment ago may decide that. With
   * `isUnmanaged` the release is skipped, once its record says so. With `isForced` helm applies the
   * chart although nothing has changed.
   *
   * @returns the release after that
   */
  deploy(
    module: Module,
    values: JsonObject,
    options: {
      readonly mayShareReads: boolean;
      readonly isUnmanaged: boolean;
      readonly isForced?: boolean;
      /** Steps of extensions in the deployment. */
      readonly steps?: ReleaseSteps | undefined;
      /** Stored with the values in the record of the release. */
      readonly note: string;
      /** Recorded with the revision; undefined where the files are not remembered. */
      readonly source: DeployedSource | undefined;
      /** Called when helm begins to apply, if it does. */
      readonly onApply?: () => void;
      /** Parent of the spans; default: nothing is traced. */
      readonly span?: Span;
    },
    signal: AbortSignal,
  ): Promise<ReleaseFacts>;
  /**
   * Starts helm for a deployment that will most likely follow in a moment. Never throws.
   *
   * @param span any span of the trace that the deployment will most likely be in
   */
  prepare(module: Module, values: JsonObject, span: Span, signal: AbortSignal): Promise<void>;
  /**
   * The objects of a module that the API server would refuse; `chart` if it does not render. Changes
   * nothing.
   *
   * @throws OperatorError MODULE_INVALID when the directory cannot be read
   */
  preflight(module: Module, values: JsonObject, signal: AbortSignal): Promise<readonly RefusedObject[]>;
  /** A hook has run and may have changed the cluster: drops cached reads. */
  forgetReads(): void;
  exists(name: string, signal: AbortSignal): Promise<boolean>;
  /** Newest revision of a release, in any state; 0 without one. */
  revision(name: string, signal: AbortSignal): Promise<number>;
  /**
   * Succeeds for a release that is gone already. A release of another owner stays, unless
   * `includeForeign` is true.
   */
  uninstall(
    name: string,
    options: {
      readonly includeForeign: boolean;
      readonly steps?: UninstallSteps | undefined;
      /** Parent of the span of helm; default: nothing is traced. */
      readonly span?: Span;
    },
    signal: AbortSignal,
  ): Promise<UninstallResult>;
  /** Removes the labels of this operator from a release: it stays, also when its module is removed. */
  disown(name: string, signal: AbortSignal): Promise<void>;
  /**
   * Goes back to an earlier revision, as a new one.
   *
   * @returns the release after that
   */
  rollback(module: Module, revision: number, signal: AbortSignal): Promise<ReleaseFacts>;
  readonly history: Pick<ReleaseHistory, 'list' | 'source'>;
  /** Notes on a release whether it stays when its module is gone. */
  keep(name: string, isKept: boolean, signal: AbortSignal): Promise<void>;
  /**
   * Removes a lock that another helm left on a release, so that it can be taken over at once.
   */
  unlock(name: string, signal: AbortSignal): Promise<UnlockResult>;
  list(signal: AbortSignal): Promise<readonly ReleaseInCluster[]>;
  /** Stops looking for missing objects of the release until the returned function is called. */
  pauseMonitor(module: string): () => void;
  /** The drift of the objects of a release; undefined while they are not watched. */
  drift(module: string): DriftReport | undefined;
  /** Called when pauses change: drift that was left because of a pause may be corrected now. */
  recheckDrift(): void;
  stopMonitor(module: string): Promise<void>;
  /**
   * Stops the resource monitors, and drops cached facts that charts can query about the cluster.
   */
  onGlobalChange(): Promise<void>;
}

/**
 * The helm driver as the operator uses it.
 *
 * @param crdFilterPrefixes names of files below `crds/` that begin with one of them are no CRDs
 */
export function releasesOf(driver: HelmDriver, crdFilterPrefixes: readonly string[]): Releases {
  return {
    deploy: async (module, values, options, signal) => {
      const { drift, conflicts } = module.manifest;
      const request = { module, values, ...options, drift, conflicts };
      const { revision, digest } = await driver.deploy(request, signal);
      return { revision, digest };
    },
    prepare: (module, values, span, signal) =>
      driver.prepare({ module, values, conflicts: module.manifest.conflicts, span }, signal),
    preflight: (module, values, signal) =>
      preflight({ helm: driver, crdFilterPrefixes }, { module, values }, signal),
    forgetReads: () => driver.forgetReads(),
    exists: (name, signal) => driver.exists(name, signal),
    revision: (name, signal) => driver.revision(name, signal),
    uninstall: (name, options, signal) => driver.uninstall(name, signal, options),
    rollback: async ({ name, manifest: { drift } }, revision, signal) =>
      await driver.rollback({ release: name, revision, drift }, signal),
    history: driver.history,
    keep: (name, isKept, signal) => driver.keep(name, isKept, signal),
    disown: (name, signal) => driver.disown(name, signal),
    unlock: (name, signal) => driver.unlock(name, signal),
    list: (signal) => driver.listReleases(signal),
    pauseMonitor: (module) => driver.monitors.pause(module),
    drift: (module) => driver.monitors.drift(module),
    recheckDrift: () => driver.monitors.recheckDrift(),
    stopMonitor: (module) => driver.monitors.stop(module),
    onGlobalChange: () => driver.onGlobalChange(),
  };
}
