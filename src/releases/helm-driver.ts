import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { KeyedLock } from '@addon-operator/concurrency/keyed-lock';
import type { HelmBinary } from '@addon-operator/helm/find-helm';
import { helmEnvironment } from '@addon-operator/helm/helm-process';
import { type NotedRelease, notedReleases } from '@addon-operator/helm/noted-release';
import { PreparedHelm } from '@addon-operator/helm/prepared-helm';
import {
  isKept,
  isOwned,
  LABELS_WHEN_DISOWNED,
  labelsWhenKept,
  saysUnmanaged,
} from '@addon-operator/helm/record-metadata';
import type { ReleaseStatus } from '@addon-operator/helm/recovery-table';
import { type ReleaseHistory, releaseHistory } from '@addon-operator/helm/release-history';
import { createHolder, type Holder, LockAges } from '@addon-operator/helm/release-locks';
import { ReleaseStore, type StorageDriver } from '@addon-operator/helm/release-store';
import { RenderGateScript } from '@addon-operator/helm/render-gate';
import { MonitorReads, type ReleaseFinding, randomShiftMs } from '@addon-operator/helm/resource-monitor';
import { removeLeftovers } from '@addon-operator/helm/run-directory';
import { SharedReads } from '@addon-operator/helm/shared-reads';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { processStart } from '@addon-operator/process/process-alive';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import { type DeployRequest, type DeployResult, deployRelease, unmanaged } from './deploy.ts';
import { type DriftSettings, driftStarter } from './drift/start-drift.ts';
import {
  type DriverContext,
  type DriverReports,
  type HelmDuration,
  lookupOptions,
  ReleaseNotices,
} from './driver-context.ts';
import { type KindKey, type RefusedObject, refusedObjects } from './dry-run.ts';
import { MonitorSet } from './monitor-set.ts';
import { prepareUpgrade } from './prepare-upgrade.ts';
import { previewRelease, type ReleasePreview } from './preview-release.ts';
import { recordFailedSource, recordSource } from './record-source.ts';
import { type UnlockResult, unlockRelease } from './recover.ts';
import { type RenderOptions, renderModule } from './render.ts';
import { type RollbackRequest, type RollbackResult, rollbackRelease } from './rollback.ts';
import { type UninstallOptions, type UninstallResult, uninstallRelease } from './uninstall.ts';

export interface HelmDriverOptions {
  readonly runner: ProcessRunner;
  readonly kube: KubeClient;
  /** For the periodic check of release objects, which may have a lower rate limit. */
  readonly monitorKube: KubeClient;
  readonly discovery: DriverContext['discovery'];
  readonly clock: Clock;
  readonly log: Logger;
  readonly helm: HelmBinary;
  /** The daemon's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A kubeconfig file for the same cluster as `kube`. */
  readonly kubeConfigPath: string;
  /** Empty for the current context of that file. */
  readonly kubeContext: string;
  /** Namespace of all releases. */
  readonly namespace: string;
  /** The driver's own directory, created with mode 0700. Caches in it may outlive the daemon. */
  readonly workDir: string;
  readonly storageDriver: StorageDriver;
  /** The number of revisions that helm keeps per release; 0 keeps all. */
  readonly historyMax: number;
  /** The time limit of each helm hook, in milliseconds. */
  readonly timeoutMs: number;
  /** The number of releases that are deployed or uninstalled at the same time; at least 1. */
  readonly parallel: number;
  /** Set on every object of every release, for example `heritage=addon-operator`. */
  readonly extraLabels: Readonly<Record<string, string>>;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly onOperation: (operation: HelmDuration) => void;
  /** Objects that stay although their release is removed: titles, each with the reason. */
  readonly onLeftBehind: DriverReports['onLeftBehind'];
  /** Called with the finding of a resource monitor; the module should be run again. */
  readonly onFinding: (module: string, finding: ReleaseFinding) => void;
  /** The watch for drift. */
  readonly drift: DriftSettings;
}

export interface ReleaseSummary {
  readonly name: string;
  readonly revision: number;
  readonly status: ReleaseStatus;
  /** Whether an addon-operator created it. */
  readonly isOwned: boolean;
  /** Set when the release stays although its module is gone. */
  readonly isKept?: boolean;
  /**
   * Set when it is deployed and labelled as unmanaged: it is skipped while its module is in
   * maintenance.
   */
  readonly isUnmanaged?: boolean;
}

export interface HelmDriver {
  /**
   * Makes a module's release match its chart and values, see {@link deployRelease}; then its
   * objects are monitored.
   */
  deploy(request: DeployRequest, signal: AbortSignal): Promise<DeployResult>;
  /**
   * Starts helm for a deployment that will most likely follow, see {@link prepareUpgrade}. Never
   * throws: without it the deployment only takes longer.
   */
  prepare(request: DeployRequest, signal: AbortSignal): Promise<void>;
  /** Ends the processes that {@link prepare} has started. */
  dismissPrepared(): Promise<void>;
  /** Stops monitoring and removes the release, see {@link uninstallRelease}. */
  uninstall(release: string, signal: AbortSignal, options?: UninstallOptions): Promise<UninstallResult>;
  /**
   * Whether a release of this name exists, in any state. Throws when the API server does not
   * respond.
   */
  exists(release: string, signal: AbortSignal): Promise<boolean>;
  /** Newest revision of a release, in any state; 0 without one. Throws when the API server does not respond. */
  revision(release: string, signal: AbortSignal): Promise<number>;
  /** Stops monitoring a release and removes our labels from it, so that this operator does not own it any more. A missing release is no error. */
  disown(release: string, signal: AbortSignal): Promise<void>;
  /** Goes back to an earlier revision, see {@link rollbackRelease}; then its objects are monitored. */
  rollback(request: RollbackRequest, signal: AbortSignal): Promise<RollbackResult>;
  /** Annotates a release to stay, or not, when its module is gone. Ignores a missing one. */
  keep(release: string, isKept: boolean, signal: AbortSignal): Promise<void>;
  /**
   * Removes another helm's lock, so that a release is taken over at once, see {@link
   * unlockRelease}.
   */
  unlock(release: string, signal: AbortSignal): Promise<UnlockResult>;
  /** Every release in the namespace in any state, by name. */
  listReleases(signal: AbortSignal): Promise<readonly ReleaseSummary[]>;
  /** The objects of the newest revision of a release, as YAML; empty without one. */
  manifest(release: string, signal: AbortSignal): Promise<string>;
  /**
   * Called after a hook has run, which may have changed the cluster: drops reads that modules
   * share.
   */
  forgetReads(): void;
  /**
   * Called when global values change, before all modules run: stops all monitors, and reads the API
   * discovery again.
   */
  onGlobalChange(): Promise<void>;
  /** The manifests of a module, see {@link renderModule}. */
  render(request: DeployRequest, signal: AbortSignal, options?: RenderOptions): Promise<string>;
  /**
   * The objects that the API server would refuse of {@link render}, see {@link refusedObjects}.
   *
   * @throws OperatorError HELM_FAILED, MODULE_INVALID as {@link render}
   */
  dryRun(
    request: DeployRequest,
    brought: ReadonlySet<KindKey>,
    signal: AbortSignal,
  ): Promise<readonly RefusedObject[]>;
  /**
   * The action that {@link deploy} would take for a module that is not unmanaged yet. Changes
   * nothing.
   */
  preview(request: DeployRequest, signal: AbortSignal): Promise<ReleasePreview>;
  /** The previous revisions of releases. */
  readonly history: ReleaseHistory;
  /** The note of the last deployment of each release, the latest first. */
  notedReleases(signal: AbortSignal): Promise<readonly NotedRelease[]>;
  readonly monitors: Pick<MonitorSet, 'pause' | 'resources' | 'drift' | 'recheckDrift' | 'stop' | 'stopAll'>;
}

/**
 * Creates the driver, and prepares its directory. It is everything that the operator uses of helm:
 * it reads the records of releases, decides with `release-action.ts`, and starts helm only if
 * something differs. Operations on one release exclude each other; different releases run in
 * parallel, up to the limit.
 */
export async function createHelmDriver(options: HelmDriverOptions): Promise<HelmDriver> {
  const context = await createContext(options);
  const locks = new KeyedLock();
  const monitors = createMonitors(context, options);
  const contextOf = ({ isUnmanaged }: DeployRequest): DriverContext =>
    isUnmanaged === true ? unmanaged(context) : context;
  return {
    monitors,
    deploy: (request, signal) =>
      locks.run(request.module.name, signal, () => deployAndMonitor(context, monitors, request, signal)),
    prepare: async (request, signal) => {
      try {
        if (request.isUnmanaged !== true) await prepareUpgrade(context, request, signal);
      } catch (error) {
        context.log.debug({ module: request.module.name, error }, 'cannot start helm ahead');
      }
    },
    dismissPrepared: () => context.prepared.dismiss(),
    uninstall: (release, signal, uninstallOptions = {}) =>
      locks.run(release, signal, async () => {
        await monitors.stop(release);
        return await uninstallRelease(context, release, uninstallOptions, signal);
      }),
    rollback: (request, signal) =>
      locks.run(request.release, signal, async () => {
        const result = await rollbackRelease(context, request, signal);
        await monitors.restart(request.release, result.objects, request.drift);
        return result;
      }),
    exists: async (release, signal) => {
      // An uninstalled release may keep its record (`--keep-history` of another client).
      const latest = await context.store.latest(release, signal);
      return latest !== undefined && latest.status !== 'uninstalled';
    },
    revision: async (release, signal) => (await context.store.latest(release, signal))?.revision ?? 0,
    disown: (release, signal) =>
      locks.run(release, signal, async () => {
        await monitors.stop(release);
        const latest = await context.store.latest(release, signal);
        if (latest === undefined) return;
        await context.store.setMetadata(release, latest.revision, { labels: LABELS_WHEN_DISOWNED }, signal);
      }),
    keep: (release, isToStay, signal) =>
      locks.run(release, signal, async () => {
        const latest = await context.store.latest(release, signal);
        // Without a change no request is sent.
        if (latest === undefined || isKept(latest.labels) === isToStay) return;
        const labels = labelsWhenKept(isToStay);
        await context.store.setMetadata(release, latest.revision, { labels }, signal);
      }),
    unlock: (release, signal) => unlockRelease(context, release, signal),
    listReleases: async (signal) => {
      const revisions = await context.sharedReads.readReleases(() => context.store.latestOfAll(signal));
      return revisions.map(({ release, revision, status, labels }) => ({
        name: release,
        revision,
        status,
        isOwned: isOwned(labels),
        ...(isKept(labels) && { isKept: true }),
        ...(status === 'deployed' && saysUnmanaged(labels, revision) && { isUnmanaged: true }),
      }));
    },
    forgetReads: () => context.sharedReads.forget(),
    onGlobalChange: async () => {
      context.discovery.invalidate();
      await monitors.stopAll();
    },
    manifest: async (release, signal) => {
      const latest = await context.store.latest(release, signal);
      return latest === undefined ? '' : (await context.store.payload(latest, signal)).manifest;
    },
    render: (request, signal, renderOptions) =>
      renderModule(contextOf(request), request, signal, renderOptions),
    dryRun: async (request, brought, signal) => {
      const manifest = await renderModule(contextOf(request), request, signal);
      return await refusedObjects(context, { release: request.module.name, manifest }, brought, signal);
    },
    history: releaseHistory(context.store),
    notedReleases: (signal) => notedReleases(context.store, signal),
    preview: (request, signal) => previewRelease(contextOf(request), request, signal),
  };
}

/** Deploys a release, records what it was deployed from, and monitors its objects. */
async function deployAndMonitor(
  context: DriverContext,
  monitors: MonitorSet,
  request: DeployRequest,
  signal: AbortSignal,
): Promise<DeployResult> {
  const { name } = request.module;
  const deployed = { release: name, source: request.source };
  const result = await deployRelease(context, request, signal).catch(async (error: unknown) => {
    await recordFailedSource(context, deployed, signal);
    throw error;
  });
  await recordSource(context, deployed, result.revision, signal);
  // Shared reads were made before this deployment.
  if (result.action !== 'skipped') context.sharedReads.forgetRelease(name);
  // The monitors watch what was deployed, so they follow the result: an unmanaged release has none.
  if (request.isUnmanaged === true) await monitors.stop(name);
  else if (result.action === 'skipped') await monitors.ensure(name, result.objects, request.drift);
  else await monitors.restart(name, result.objects, request.drift);
  // Last, when the monitors run: a release that is not ready yet must not go unwatched.
  if (request.isUnmanaged !== true) await request.steps?.whenDeployed?.(result.objects, signal);
  return result;
}

async function createContext(options: HelmDriverOptions): Promise<DriverContext> {
  const { kube, namespace, storageDriver, workDir, helm, log, clock } = options;
  const store = new ReleaseStore({ kube, namespace, storageDriver });
  await mkdir(workDir, { recursive: true, mode: 0o700 });
  // Directories of runs that a killed daemon left.
  await removeLeftovers(workDir);
  const gateScript = await RenderGateScript.install(workDir, helm);
  const { env: base, kubeConfigPath } = options;
  const { pluginsDir } = gateScript;
  return {
    runner: options.runner,
    kube,
    discovery: options.discovery,
    clock,
    log,
    helm,
    env: helmEnvironment({ base, kubeConfigPath, workDir, pluginsDir, storageDriver }),
    workDir,
    namespace,
    kubeContext: options.kubeContext,
    historyMax: options.historyMax,
    timeoutMs: options.timeoutMs,
    extraLabels: options.extraLabels,
    store,
    prepared: new PreparedHelm({ clock, log, places: options.parallel }),
    sharedReads: new SharedReads(clock),
    gateScript,
    holder: ownHolder(),
    lockAges: new LockAges(clock),
    notices: new ReleaseNotices(log),
    readYaml: options.drift.readYaml,
    reports: { onOperation: options.onOperation, onLeftBehind: options.onLeftBehind },
  };
}

function createMonitors(context: DriverContext, options: HelmDriverOptions): MonitorSet {
  // The monitors have a client of their own: their reads must not use up the limit of deployments.
  const { monitorKube: kube, namespace, storageDriver, clock } = options;
  const store = new ReleaseStore({ kube, namespace, storageDriver });
  const lookup = { ...lookupOptions(context), kube };
  const reads = new MonitorReads({ clock, store, lookup, labels: context.extraLabels });
  const startDrift = driftStarter({ context, settings: options.drift, store, kube });
  return new MonitorSet({
    driftMode: options.drift.mode,
    startDrift,
    clock,
    log: options.log,
    shiftMs: randomShiftMs(options.random),
    reads,
    onFinding: options.onFinding,
  });
}

function ownHolder(): Holder {
  const { pid } = process;
  return createHolder(shortHash(hostname()), pid, randomBytes(6).toString('hex'), processStart(pid));
}

/** A hash, because host names may be longer than a label allows. */
function shortHash(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 12);
}
