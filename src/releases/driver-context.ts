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

/** The duration of one part of a deployment: rendering, deciding whether to continue, applying. */
export interface HelmDuration {
  readonly module: string;
  readonly operation: 'template' | 'check-upgrade' | 'upgrade';
  readonly durationMs: number;
}

/** The parts that every action of the driver uses. */
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
  /**
   * Limits the helm processes that deploy or uninstall: twenty at once would need a gigabyte, and
   * save no time.
   */
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

/** The options for reading objects of a release. */
export function lookupOptions(context: DriverContext): LookupOptions {
  const { kube, discovery, namespace } = context;
  return { kube, namespace, find: (apiVersion, kind, signal) => discovery.find(apiVersion, kind, signal) };
}

/**
 * The time limit of one helm process, in milliseconds. helm's own time-out applies to each single
 * wait: for every helm hook before and after the objects are applied, and for the end of earlier
 * hooks. A valid deployment may need several of them; a helm that hangs on a dead connection must
 * end nevertheless.
 */
export function processLimitMs(helmTimeoutMs: number): number {
  return 3 * helmTimeoutMs + 300_000;
}

const MAX_SHOWN_PATHS = 5;

/** JSON pointers to numbers that were kept as strings. */
function rawNumberPaths(value: unknown, pointer = ''): readonly string[] {
  if (isRawJson(value)) return [pointer];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    rawNumberPaths(part, `${pointer}/${escapeSegment(key)}`),
  );
}

/** Notices about a release that are logged once, not in every run. */
export class ReleaseNotices {
  readonly #log: Logger;
  readonly #logged = new Set<string>();

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

  /** helm reads all numbers in values as doubles, which rounds large integers. */
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
    if (this.#logged.has(key)) return;
    this.#logged.add(key);
    this.#log.warn(fields, message);
  }
}
