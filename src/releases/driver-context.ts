import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { ChartTraits } from '@addon-operator/helm/chart-functions';
import type { ChartDirectory } from '@addon-operator/helm/chart-source';
import type { HelmBinary } from '@addon-operator/helm/find-helm';
import type { LookupOptions } from '@addon-operator/helm/object-lookup';
import type { PreparedHelm } from '@addon-operator/helm/prepared-helm';
import type { Holder, LockAges } from '@addon-operator/helm/release-locks';
import type { ReleaseStore } from '@addon-operator/helm/release-store';
import type { RenderGateScript } from '@addon-operator/helm/render-gate';
import type { SharedReads } from '@addon-operator/helm/shared-reads';
import { isRawJson } from '@addon-operator/json';
import { escapeSegment } from '@addon-operator/json/pointer';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { ProcessRunner } from '@addon-operator/process/process-runner';

/** A module whose directory is a chart; its release has the module's name. */
export interface ChartModule extends ChartDirectory {
  readonly name: string;
}

/** What part of a deployment took how long: rendering by helm, finding out whether to go on, applying. */
export interface HelmDuration {
  readonly module: string;
  readonly operation: 'template' | 'check-upgrade' | 'upgrade';
  readonly durationMs: number;
}

/** What every action of the driver works with. */
export interface DriverContext {
  readonly runner: ProcessRunner;
  readonly kube: KubeClient;
  readonly discovery: Pick<Discovery, 'find' | 'rediscover' | 'invalidate' | 'serverVersion' | 'apiVersions'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly helm: HelmBinary;
  readonly env: Readonly<Record<string, string>>;
  readonly workDir: string;
  readonly namespace: string;
  readonly kubeContext: string;
  readonly historyMax: number;
  readonly timeoutMs: number;
  readonly extraLabels: Readonly<Record<string, string>>;
  readonly store: ReleaseStore;
  /** Places for helm processes that deploy or uninstall: twenty at once would need a gigabyte, and no less time. */
  readonly prepared: PreparedHelm;
  readonly sharedReads: SharedReads;
  readonly gateScript: RenderGateScript;
  readonly holder: Holder;
  readonly lockAges: LockAges;
  readonly notices: ReleaseNotices;
  /** Parses one YAML document as helm does. */
  readonly readYaml: (text: string) => unknown;
  readonly reports: DriverReports;
}

/** Receives what the actions of the driver report. */
export interface DriverReports {
  readonly onOperation: (operation: HelmDuration) => void;
  /** Objects that stay although their release is removed: titles, each with the reason. */
  readonly onLeftBehind: (release: string, objects: readonly string[]) => void;
}

/** Where objects of a release are looked for. */
export function lookupOptions(context: DriverContext): LookupOptions {
  const { kube, discovery, namespace } = context;
  return { kube, namespace, find: (apiVersion, kind, signal) => discovery.find(apiVersion, kind, signal) };
}

/**
 * Limit for one helm process, in milliseconds. helm's own time-out is not for the process but for each single wait: for
 * every helm hook, one after the other before and after the objects are applied, and for the end of what an earlier
 * hook has left. So a sound deployment may take several of them; a helm that hangs on a dead connection is not waited
 * for longer.
 */
export function processLimitMs(helmTimeoutMs: number): number {
  return 3 * helmTimeoutMs + 300_000;
}

const MAX_SHOWN_PATHS = 5;

/** JSON pointers of the numbers that were kept as texts. */
function rawNumberPaths(value: unknown, pointer = ''): readonly string[] {
  if (isRawJson(value)) return [pointer];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    rawNumberPaths(part, `${pointer}/${escapeSegment(key)}`),
  );
}

/** What is worth saying about a release once, not on every run. */
export class ReleaseNotices {
  readonly #log: Logger;
  readonly #said = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Charts whose rendering is not determined by their files and values. */
  onChart(release: string, traits: ChartTraits): void {
    const { changingFunctions, outsideFunctions } = traits;
    if (changingFunctions.length > 0) {
      this.#warnOnce(
        { release, functions: changingFunctions },
        'chart renders differently each time: it is upgraded only when its files or values change',
      );
    }
    if (outsideFunctions.length > 0) {
      this.#warnOnce(
        { release, functions: outsideFunctions },
        'chart reads the cluster while it renders: helm must render it on every run of the module',
      );
    }
  }

  /** helm reads all numbers of values as doubles. */
  onValues(release: string, values: unknown): void {
    const paths = rawNumberPaths(values).slice(0, MAX_SHOWN_PATHS);
    if (paths.length === 0) return;
    this.#warnOnce(
      { release, values: paths },
      'helm rounds integers beyond 2^53 in values: write them as strings where the chart uses them',
    );
  }

  onAdoption(release: string): void {
    this.#warnOnce(
      { release },
      'release was not created by this operator: adopting it, because a module has its name',
    );
  }

  #warnOnce(
    fields: {
      readonly release: string;
      readonly functions?: readonly string[];
      readonly values?: readonly string[];
    },
    message: string,
  ): void {
    const key = `${message} ${JSON.stringify(fields)}`;
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.#log.warn(fields, message);
  }
}
