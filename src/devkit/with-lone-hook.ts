import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { withRedactedLog } from '@addon-operator/logging/redacted-log';
import { redactedError } from '@addon-operator/masking/redactor';
import { type Cluster, type ClusterSettings, connectCluster } from '../app/connect-cluster.ts';
import type { DaemonHost } from '../app/host.ts';
import {
  connectHooks,
  type HookConnectionsOptions,
  type HookToolsOptions,
  startHookTools,
} from '../hook-runs/start-hook-tools.ts';
import type { HookRuns } from '../hooks/run-hook.ts';
import { connectAlone } from '../leader/take-lead.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { MetricsSettings } from '../settings/server-settings.ts';
import { createMetrics } from '../views/daemon-metrics.ts';
import { createLoneHook, type LoneHookParts } from './create-lone-hook.ts';
import type { HookPlace } from './hook-place.ts';
import type { LoneHook } from './lone-hook.ts';

type LoneHookSettings = LoneHookParts['settings'] &
  HookToolsOptions['settings'] &
  HookConnectionsOptions['settings'] &
  ClusterSettings &
  MetricsSettings;

export interface LoneHookOptions {
  /** Of the hook and its module; the cluster is that of `kubeConfig`. */
  readonly settings: LoneHookSettings;
  readonly host: DaemonHost;
  /** Absolute. */
  readonly path: string;
  readonly place: HookPlace;
  /** Comes between the operator and the hook. */
  readonly tap: (runs: HookRuns) => HookRuns;
  /** Comes between the operator and the cluster, for all that it writes; default: nothing does. */
  readonly through?: (kube: KubeClient) => KubeClient;
}

/**
 * Puts one hook into operation, without queues, releases and other hooks. Temporary files are kept apart from those of a
 * running operator.
 *
 * @throws OperatorError when the hook, its configuration, its module or the ConfigMap cannot be used; and what `use` throws
 */
export async function withLoneHook<T>(
  { host: given, settings: wanted, through = (kube) => kube, path, place, tap }: LoneHookOptions,
  use: (hook: LoneHook) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { host, redactor } = withRedactedLog(given);
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  const settings: LoneHookSettings = { ...wanted, tmpDir: directory };
  const metrics = createMetrics(settings, { version: host.version });
  const common = { settings, host, metrics, redactor, stop: signal, running };
  try {
    const connect = (): Promise<Cluster> => connectThrough(common, through);
    const { cluster, lead } = await connectAlone({ connect, running });
    const tools = await startHookTools({ settings, host, lead, stop: signal, running });
    const connections = connectHooks({ ...common, cluster }, tools);
    const file = { path, place, tap };
    return await use(await createLoneHook({ ...common, cluster, tools, connections, file }));
  } catch (error) {
    throw redactedError(error, redactor);
  }
}

async function connectThrough(
  {
    settings,
    host,
    metrics,
  }: { readonly settings: ClusterSettings; readonly host: DaemonHost; readonly metrics: OperatorMetrics },
  through: (kube: KubeClient) => KubeClient,
): Promise<Cluster> {
  const cluster = await connectCluster(settings, host, metrics);
  const { main, patcher } = cluster;
  return { ...cluster, main: through(main), patcher: through(patcher), close: () => cluster.close() };
}
