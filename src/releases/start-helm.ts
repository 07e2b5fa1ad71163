import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import { findHelm, type HelmBinary } from '@addon-operator/helm/find-helm';
import { helmKubeconfig } from '@addon-operator/helm/helm-kubeconfig';
import type { LocatedAccess } from '@addon-operator/kube-client/cluster-access';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { HelmSettings } from '../settings/helm-settings.ts';
import type { KubeSettings } from '../settings/kube-settings.ts';
import type { CrdSettings } from '../settings/module-settings.ts';
import type { DriftSettings } from './drift/start-drift.ts';
import { createHelmDriver, type HelmDriver, type HelmDriverOptions } from './helm-driver.ts';

interface HelmHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** The places and parts with which helm is found. */
export interface HelmSearch {
  readonly settings: Pick<HelmSettings, 'helmBinPath'>;
  readonly host: HelmHost;
  readonly runner: ProcessRunner;
  readonly tmpDir: string;
  /** Fetches a pinned helm where the machine has none. */
  readonly pinned: (log: Logger, signal: AbortSignal) => Promise<string>;
}

/** Finds the helm to use, and logs it. @throws OperatorError HELM_NOT_FOUND */
export async function locateHelm(
  { settings, host, runner, tmpDir, pinned }: HelmSearch,
  signal: AbortSignal,
): Promise<HelmBinary> {
  const log = componentLog(host, 'helm');
  const binary = await findHelm(
    {
      runner,
      helmBinPath: settings.helmBinPath,
      path: host.env['PATH'] ?? '',
      versionFile: join(directoryIn(tmpDir), 'version.json'),
      pinned: (abort) => pinned(log, abort),
    },
    signal,
  );
  log.info({ path: binary.path, version: binary.version }, 'helm');
  return binary;
}

/** The parts of the driver. */
interface HelmStart {
  readonly settings: HelmSettings &
    Pick<KubeSettings, 'kubeContext'> &
    Pick<InstanceSettings, 'namespace'> &
    Pick<CrdSettings, 'crdExtraLabels'>;
  readonly host: HelmHost;
  readonly cluster: {
    readonly access: LocatedAccess;
    readonly helm: KubeClient;
    readonly monitor: KubeClient;
    readonly discovery: HelmDriverOptions['discovery'];
  };
  readonly helmBinary: Promise<HelmBinary>;
  readonly runner: ProcessRunner;
  readonly reflectors: SharedReflectors;
  readonly tmpDir: string;
  /** Receives everything that has to be stopped. */
  readonly running: AsyncDisposableStack;
}

/** The driver's reports to the operator, and its questions. */
export interface HelmReports extends Pick<HelmDriverOptions, 'onOperation' | 'onFinding' | 'onLeftBehind'> {
  readonly isHeld: DriftSettings['isHeld'];
  readonly onDrift: DriftSettings['onEvent'];
  readonly onComparison: DriftSettings['onComparison'];
}

/**
 * Starts the driver with a helm that was found. `app/start-releases.ts` calls it. The driver gets a
 * kubeconfig of its own, because helm reads its access from a file only.
 */
export async function startHelm(
  { settings, host, cluster, helmBinary, runner, reflectors, tmpDir, running }: HelmStart,
  readYaml: DriftSettings['readYaml'],
  { onOperation, onFinding, onLeftBehind, isHeld, onDrift, onComparison }: HelmReports,
): Promise<HelmDriver> {
  const { clock, random, env } = host;
  const workDir = directoryIn(tmpDir);
  const kubeconfig = helmKubeconfig({
    source: cluster.access.kubeconfig,
    context: settings.kubeContext,
    // The name is that of a hook run's directory: a start removes those that a killed daemon left.
    directory: join(tmpDir, `run-${process.pid}-helm-${randomUUID()}`),
  });
  running.defer(kubeconfig.remove);
  const driver = await createHelmDriver({
    runner,
    kube: cluster.helm,
    monitorKube: cluster.monitor,
    discovery: cluster.discovery,
    clock,
    log: componentLog(host, 'helm'),
    helm: await helmBinary,
    env,
    kubeConfigPath: kubeconfig.path,
    kubeContext: kubeconfig.context,
    namespace: settings.namespace,
    workDir,
    storageDriver: settings.helmDriver,
    historyMax: settings.helmHistoryMax,
    timeoutMs: settings.helmTimeoutMs,
    // 0 means automatic: one process more than there are CPUs.
    parallel: settings.helmParallel === 0 ? availableParallelism() + 1 : settings.helmParallel,
    extraLabels: settings.crdExtraLabels,
    random,
    onOperation,
    onLeftBehind,
    onFinding,
    drift: {
      mode: settings.driftMode,
      reflectors,
      readYaml,
      isHeld,
      onEvent: onDrift,
      onComparison,
      random,
    },
  });
  // Disposed in reverse order: prepared processes first, then the monitors that read for them.
  running.defer(() => driver.monitors.stopAll());
  running.defer(() => driver.dismissPrepared());
  return driver;
}

/** The directory of the driver within that of the daemon. */
function directoryIn(tmpDir: string): string {
  return join(tmpDir, 'helm');
}
