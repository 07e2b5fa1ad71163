import type { Span } from '@addon-operator/base/trace';
import type { ReleaseStatus } from '@addon-operator/helm/recovery-table';
import type { JsonObject } from '@addon-operator/json';
import type { Module } from '../modules/module.ts';
import type { DriftReport } from '../releases/drift/drift-policy.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import type { UnlockResult } from '../releases/recover.ts';
import type { ReleaseSteps, UninstallSteps } from '../releases/release-steps.ts';
import type { UninstallResult } from '../releases/uninstall.ts';
import type { ReleaseFacts } from '../status/module-facts.ts';

export interface ReleaseInCluster {
  readonly name: string;
  readonly revision: number;
  /** Of the newest revision. */
  readonly status: ReleaseStatus;
  /** Whether a daemon of ours made it. */
  readonly isOwned: boolean;
  /** Set when the release stays although its module is gone. */
  readonly isKept?: boolean;
}

/** What the operator uses of helm. The release of a module has the module's name. */
export interface Releases {
  /**
   * Brings the release to the chart and the values; does nothing where that is so already. With `mayShareReads` what was
   * read for other modules a moment ago may show it. With `isUnmanaged` it is left alone, once it says so itself. With
   * `isForced` helm applies the chart although nothing has changed.
   *
   * @returns what the release is now
   */
  deploy(
    module: Module,
    values: JsonObject,
    options: {
      readonly mayShareReads: boolean;
      readonly isUnmanaged: boolean;
      readonly isForced?: boolean;
      /** What extensions do on the way. */
      readonly steps?: ReleaseSteps | undefined;
      /** Kept with the values on the record of the release. */
      readonly note: string;
      /** Called when helm begins to apply, if it does. */
      readonly onApply?: () => void;
      /** Parent of the spans of what is done; default: nothing is traced. */
      readonly span?: Span;
    },
    signal: AbortSignal,
  ): Promise<ReleaseFacts>;
  /**
   * Starts helm for a deployment that will most likely follow in a moment. Never throws.
   *
   * @param span of any part of the trace that the deployment will most likely be in
   */
  prepare(module: Module, values: JsonObject, span: Span, signal: AbortSignal): Promise<void>;
  /** A hook has run: what was read of the cluster may be different now. */
  forgetReads(): void;
  exists(name: string, signal: AbortSignal): Promise<boolean>;
  /** Newest revision of a release, in any state; 0 without one. */
  revision(name: string, signal: AbortSignal): Promise<number>;
  /** A release that is gone already is fine. One that others made stays, unless `includeForeign` is true: it is spared. */
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
  /** Notes on a release whether it stays when its module is gone. */
  keep(name: string, isKept: boolean, signal: AbortSignal): Promise<void>;
  /** Lets a release be taken over at once that another helm has left locked. */
  unlock(name: string, signal: AbortSignal): Promise<UnlockResult>;
  list(signal: AbortSignal): Promise<readonly ReleaseInCluster[]>;
  /** Stops looking for missing objects of the release until the returned function is called. */
  pauseMonitor(module: string): () => void;
  /** The drift of the objects of a release; undefined while they are not watched. */
  drift(module: string): DriftReport | undefined;
  /** To be called when pauses changed: what was left as others changed it may be changed back now. */
  recheckDrift(): void;
  stopMonitor(module: string): Promise<void>;
  /** Stops the resource monitors, and reads what charts can ask about the cluster anew. */
  onGlobalChange(): Promise<void>;
}

/** The helm driver as the operator uses it. */
export function releasesOf(driver: HelmDriver): Releases {
  return {
    deploy: async (module, values, options, signal) => {
      const { drift, conflicts } = module.manifest;
      const request = { module, values, ...options, drift, conflicts };
      const { revision, digest } = await driver.deploy(request, signal);
      return { revision, digest };
    },
    prepare: (module, values, span, signal) =>
      driver.prepare({ module, values, conflicts: module.manifest.conflicts, span }, signal),
    forgetReads: () => driver.forgetReads(),
    exists: (name, signal) => driver.exists(name, signal),
    revision: (name, signal) => driver.revision(name, signal),
    uninstall: (name, options, signal) => driver.uninstall(name, signal, options),
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
