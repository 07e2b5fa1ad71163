/**
 * Wiring: one client of the API server for each purpose, from the settings. It decides nothing but which client has which
 * limit; the clients, their limits and the credentials are tested in packages/kube-client, the whole with each daemon of
 * test/lifecycle.
 */
import { readFile } from 'node:fs/promises';
import { roundedMs, type SteadyClock } from '@addon-operator/base/clock';
import { TokenBucket } from '@addon-operator/concurrency/token-bucket';
import { ApiHealth } from '@addon-operator/kube-client/api-health';
import type { LocatedAccess } from '@addon-operator/kube-client/cluster-access';
import { ConnectionPool } from '@addon-operator/kube-client/connection-pool';
import { CredentialStore } from '@addon-operator/kube-client/credentials';
import { Discovery } from '@addon-operator/kube-client/discovery';
import { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { loadKubeConfig } from '@addon-operator/kube-client/kube-config';
import { loadPluginCredentials } from '@addon-operator/kube-client/plugin-credentials';
import { SeenAccess } from '@addon-operator/kube-client/policy-rules';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { DebugSettings } from '../settings/debug-settings.ts';
import type { HelmSettings } from '../settings/helm-settings.ts';
import type { KubeSettings } from '../settings/kube-settings.ts';
import type { DaemonHost } from './host.ts';

/** The settings of the clients. */
export type ClusterSettings = KubeSettings &
  Pick<HelmSettings, 'helmMonitorQps' | 'helmMonitorBurst'> &
  Pick<DebugSettings, 'logsKubeApi'>;

/** The clients of the API server, one per purpose, so that each has its own rate limit. */
export interface Cluster {
  readonly access: LocatedAccess;
  readonly main: KubeClient;
  /** For operations of hooks (KUBERNETES_PATCH_PATH). */
  readonly patcher: KubeClient;
  /**
   * For reading releases and their objects during deployments: without a limit, like helm itself.
   */
  readonly helm: KubeClient;
  /**
   * For the lease alone: without a limit, and not subject to `beforeWrite`, since it decides who
   * leads.
   */
  readonly lease: KubeClient;
  /** For the periodic check of release objects. */
  readonly monitor: KubeClient;
  /**
   * For Module objects and their Events: without a limit, since they are written only on changes.
   */
  readonly status: KubeClient;
  /** For the access reviews of the page, which limits them itself. */
  readonly reviews: KubeClient;
  /** Whether the API server responds to any client except `lease`. */
  readonly health: ApiHealth;
  readonly discovery: Discovery;
  /** The permissions that operations of hooks have needed so far. */
  readonly patchAccess: SeenAccess;
  close(): void;
}

/**
 * Reads how the API server is reached, and creates the clients; sends no request yet. All parts of
 * the operator use these clients, so limits, credentials and the check of the leadership are only
 * here.
 *
 * @param beforeWrite called right before each write, which fails with its error
 * @throws OperatorError KUBE_CONFIG_INVALID when the access cannot be determined
 */
export async function connectCluster(
  settings: ClusterSettings,
  host: DaemonHost,
  metrics: OperatorMetrics,
  beforeWrite: () => void = () => undefined,
): Promise<Cluster> {
  const readText = (path: string): Promise<string> => readFile(path, 'utf8');
  const access = await loadKubeConfig({
    kubeConfigPath: settings.kubeConfig,
    kubeContext: settings.kubeContext,
    kubeServer: settings.kubeServer,
    env: host.env,
    readFile: readText,
  });
  const { clock, random, version } = host;
  host.log.info({ server: access.server, source: access.source }, 'cluster');
  const credentials = new CredentialStore(access, {
    clock,
    readFile: readText,
    loadPlugin: (user) => loadPluginCredentials(user, clock),
  });
  const apiHost = new URL(access.server).host;
  // The clients share connections: a TLS handshake costs more than several requests. The lease has
  // its own, so that it never waits for one.
  const pool = new ConnectionPool(access);
  const health = new ApiHealth(clock);
  const client = (qps: number, burst: number, requestTimeoutMs?: number): HttpKubeClient =>
    new HttpKubeClient({
      access,
      credentials,
      pool,
      clock,
      random,
      version,
      beforeWrite,
      ...(qps > 0 && { limiter: limiterOf(qps, burst, clock) }),
      ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
      onRequest: ({ verb, status, error, durationMs, pathTemplate }) => {
        // Also failed requests are observed: they are what an outage looks like.
        health.observe({ status, error });
        metrics.kubeRequestResult({ status, verb, host: apiHost });
        metrics.kubeRequest({ verb, url: pathTemplate }, durationMs / 1_000);
        if (settings.logsKubeApi)
          host.log.debug(
            { verb, status, durationMs: roundedMs(durationMs), url: pathTemplate },
            'API request',
          );
      },
    });
  const main = client(settings.kubeClientQps, settings.kubeClientBurst);
  const patcher = client(
    settings.objectPatcherQps,
    settings.objectPatcherBurst,
    settings.objectPatcherTimeoutMs,
  );
  const monitor = client(settings.helmMonitorQps, settings.helmMonitorBurst);
  const helm = client(0, 0);
  const status = client(0, 0);
  const reviews = client(0, 0);
  const lease = new HttpKubeClient({ access, credentials, clock: host.steadyClock, random, version });
  return {
    access,
    main,
    patcher,
    helm,
    lease,
    monitor,
    status,
    reviews,
    health,
    discovery: new Discovery({ kube: main, clock, log: host.log }),
    patchAccess: new SeenAccess(),
    close: () => {
      for (const each of [pool, lease]) each.close();
    },
  };
}

/** A token bucket for `qps` requests per second; a burst below one would block every request. */
function limiterOf(qps: number, burst: number, clock: SteadyClock): TokenBucket {
  return new TokenBucket({ intervalMs: 1_000 / qps, burst: Math.max(1, burst) }, clock);
}
