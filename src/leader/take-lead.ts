/**
 * Connects to the cluster and acquires the right to act. `app/start.ts` calls it once, early: with high availability it
 * returns when this replica has become the leader, else at once. Until then the replica is a standby, which responds to
 * probes and forwards webhook requests to the leader. Losing the lease closes the fence (no more writes), kills hooks and
 * helm, and ends the process through `onLost`.
 */

import type { OperatorError } from '@addon-operator/base/errors';
import { componentLog } from '@addon-operator/base/log';
import {
  ConnectionForwarder,
  type ForwardedPort,
  type HeldPorts,
} from '@addon-operator/http-server/connection-forwarder';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { LeaseFence } from '@addon-operator/kube-client/leader-election/lease-fence';
import { requireNamespace } from '@addon-operator/kube-client/require-namespace';
import type { RunPermit } from '@addon-operator/process/run-deadline';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { LeaseSettings } from '../settings/lease-settings.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import type { ReplicaReadiness } from '../status/daemon-view.ts';
import { leaderHost } from './leader-host.ts';
import { leaderReadiness } from './leader-readiness.ts';
import { LEASE_NAME, Leadership, type LeadershipHost, replicaLease } from './leadership.ts';
import { startPresence } from './presence.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';
import { withdrawLostPeers } from './webhook-peers.ts';

/** The right to act, as the parts that act see it. It ends with the Lease: `check` throws LEASE_LOST from then on. */
export interface Lead extends RunPermit {
  /** The ports of webhooks, with the connections that came while no replica led; absent without high availability. */
  readonly heldPorts?: HeldPorts;
}

/** The servers of hooks that begin to guard something late find their ports free. */
const UNUSED_PORT_MS = 60_000;

/** Without high availability there is no other replica. */
export const ALONE: Lead = {
  check: () => undefined,
  follow: () => undefined,
  onDeadlinePassed: () => undefined,
};

/** The connections that the election needs. */
export interface LeadClients {
  readonly main: KubeClient;
  /** For the lease alone: without a limit of rate, and not behind the fence. */
  readonly lease: KubeClient;
  close(): void;
}

export interface ConnectOptions<Cluster extends LeadClients> {
  /** Connects to the cluster; `beforeWrite` is called right before each write, which fails with what it throws. */
  readonly connect: (beforeWrite?: () => void) => Promise<Cluster>;
  /** The connections, and the lease if there is one, are added here: they end after everything that is added later. */
  readonly running: AsyncDisposableStack;
}

/** The cluster, and the right to act on it. */
export interface LeadOnCluster<Cluster> {
  readonly cluster: Cluster;
  readonly lead: Lead;
}

export interface TakeLeadOptions<Cluster extends LeadClients> extends ConnectOptions<Cluster> {
  readonly settings: LeaseSettings & ServerSettings & InstanceSettings;
  readonly host: LeadershipHost;
  readonly metrics: Pick<OperatorMetrics, 'setLeader' | 'leaseError'>;
  /** Where webhook requests arrive: they are sent on to the leader as long as this replica waits. */
  readonly webhookPorts: readonly ForwardedPort[];
  /** Port of our HTTP server, and of the leader's if the settings name none. */
  readonly httpPort: number;
  readonly stop: AbortSignal;
  /**
   * Called when this replica waits, with what its readiness probe is to say, the identity of the leader, empty without one,
   * and the connections, which write nothing until this replica leads.
   */
  readonly onStandby: (
    readiness: (signal: AbortSignal) => Promise<ReplicaReadiness>,
    leader: () => string,
    cluster: Cluster,
  ) => Promise<void>;
  /** Called when this replica must not act any more: all processes must be terminated at once. */
  readonly onLost: (error: OperatorError) => void;
}

/**
 * Connects to the cluster without regard to other replicas.
 *
 * @throws OperatorError KUBE_CONFIG_INVALID when it cannot be found out how to reach the API server
 */
export async function connectAlone<Cluster extends LeadClients>({
  connect,
  running,
}: ConnectOptions<Cluster>): Promise<LeadOnCluster<Cluster>> {
  const cluster = await connect();
  running.defer(() => cluster.close());
  return { cluster, lead: ALONE };
}

/**
 * Connects to the cluster and, with high availability, waits until this replica leads. What is connected writes nothing
 * once the lease is lost. From then on it warns of other active operators.
 *
 * @throws OperatorError KUBE_CONFIG_INVALID when it cannot be found out how to reach the API server, CONFIG_INVALID when
 *   the namespace does not exist
 */
export async function takeLead<Cluster extends LeadClients>(
  options: TakeLeadOptions<Cluster>,
): Promise<LeadOnCluster<Cluster>> {
  const { settings, host, metrics, stop, running } = options;
  const taken = await (settings.isHaEnabled ? waitForLead(options) : connectAlone(options));
  if (!settings.isHaEnabled) {
    metrics.setLeader(true);
    await requireNamespace(settings, host, taken.cluster.main, stop);
  }
  running.defer(startPresence(settings, host, taken.cluster.main, stop));
  return taken;
}

async function waitForLead<Cluster extends LeadClients>(
  options: TakeLeadOptions<Cluster>,
): Promise<LeadOnCluster<Cluster>> {
  const { settings, host, connect, metrics, webhookPorts, httpPort, stop, running, onStandby, onLost } =
    options;
  const fence = new LeaseFence(host.steadyClock);
  const check = (): void => fence.check();
  // Each write checks the fence first, in every part of the program.
  const cluster = await connect(check);
  running.defer(() => cluster.close());
  const pod = { namespace: settings.namespace, name: settings.podName };
  const endpoint = new WebhookEndpoint({
    pod,
    kube: cluster.lease,
    clock: host.steadyClock,
    random: host.random,
    log: componentLog(host, 'leader'),
  });
  const lease = replicaLease(settings, cluster.lease);
  const { identity } = lease;
  const leadership = new Leadership({
    lease,
    host,
    fence,
    metrics,
    onLost: (error) => {
      endpoint.abandon();
      onLost(error);
    },
  });
  const port = settings.listenPort === 0 ? httpPort : settings.listenPort;
  const readiness = leaderReadiness({
    leader: () => leadership.leader,
    port,
    clock: host.steadyClock,
    log: componentLog(host, 'leader'),
  });
  await onStandby(
    async (signal) => ({ type: 'standby', leader: await readiness(signal) }),
    () => leadership.leader,
    cluster,
  );
  running.defer(async () => {
    await leadership.release();
  });
  // The order of `defer` matters: what is entered later ends first. The forwarder ends before the lease is released, and
  // the lease before the connections are closed.
  // A Service sends webhooks to every pod, a standby or not.
  const heldPorts = await ConnectionForwarder.start({
    ports: webhookPorts,
    target: () => (leadership.leader === '' ? undefined : leaderHost(leadership.leader)),
    drained: () => endpoint.drained(),
    clock: host.steadyClock,
    log: componentLog(host, 'leader'),
  });
  running.defer(() => heldPorts.stop());
  endpoint.publish(stop);
  host.log.info({ identity, lease: LEASE_NAME }, 'HA mode is enabled: waiting for the lease');
  const leading = leadership
    .acquire(stop)
    .then(() => host.log.info({ identity }, 'this replica is the leader'));
  // Without the namespace there can be no lease.
  await Promise.all([leading, requireNamespace(settings, host, cluster.main, stop)]);
  heldPorts.hold();
  const peers = { pod, kube: cluster.main, port, clock: host.steadyClock, log: componentLog(host, 'leader') };
  const checked = endpoint.labelled().then(async (isLabelled) => {
    if (isLabelled) await withdrawLostPeers(peers, stop);
  });
  running.defer(() => checked);
  // Ports that no webhook server has taken over by then are closed.
  void host.steadyClock.sleep(UNUSED_PORT_MS, stop).then(
    () => heldPorts.stop(),
    () => undefined,
  );
  const lead: Lead = {
    check,
    follow: (processes) => leadership.follow(processes),
    onDeadlinePassed: () => leadership.lose({ type: 'not-renewed' }),
    heldPorts,
  };
  return { cluster, lead };
}
