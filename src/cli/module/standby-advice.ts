import { parseLeaseSpec } from '@addon-operator/kube-client/leader-election/lease-election';
import { LeaseStore } from '@addon-operator/kube-client/leader-election/lease-store';
import { shellWord } from '@addon-operator/strings/shell-word';
import { type ClusterSettings, connectCluster } from '../../app/connect-cluster.ts';
import { leaderPod } from '../../leader/leader-host.ts';
import { LEASE_NAME } from '../../leader/leadership.ts';
import type { InstanceSettings } from '../../settings/config-map-settings.ts';
import { readSettings } from '../../settings/read-settings.ts';
import type { MetricsSettings } from '../../settings/server-settings.ts';
import { createMetrics } from '../../views/daemon-metrics.ts';
import type { CliHost } from '../cli-host.ts';
import { quietHost } from '../quiet-host.ts';

const LIMIT_MS = 5_000;

/**
 * Advice for a command in the pod of a replica that finds no debug socket: a standby has none. Names the leader, as the Lease
 * has it, and the command that reaches it.
 *
 * @param args of the command line
 * @returns undefined without high availability, and where the Lease cannot be read
 */
export async function standbyAdvice(args: readonly string[], host: CliHost): Promise<string | undefined> {
  try {
    const settings = readSettings({ env: host.env, flags: {} });
    if (!settings.isHaEnabled) return undefined;
    const { namespace, podName } = settings;
    const holder = await leaseHolder(settings, host);
    if (holder === '') return 'No replica leads at the moment: retry in some seconds.';
    const pod = leaderPod(holder);
    if (pod === podName) return 'This replica leads and is still starting: retry in some seconds.';
    const command = ['addon-operator', ...args].map(shellWord).join(' ');
    return `This replica is a standby, and only the leader has a socket: kubectl -n ${namespace} exec ${pod} -- ${command}`;
  } catch {
    return undefined;
  }
}

/** Whether another replica leads, so that no socket will appear in this one. False where the Lease cannot be read. */
export async function isStandby(host: CliHost): Promise<boolean> {
  if (host.env['ADDON_OPERATOR_HA'] !== 'true') return false;
  try {
    const settings = readSettings({ env: host.env, flags: {} });
    const holder = await leaseHolder(settings, host);
    return holder !== '' && leaderPod(holder) !== settings.podName;
  } catch {
    return false;
  }
}

async function leaseHolder(
  settings: ClusterSettings & MetricsSettings & Pick<InstanceSettings, 'namespace'>,
  host: CliHost,
): Promise<string> {
  const daemon = quietHost(host);
  const cluster = await connectCluster(
    settings,
    daemon,
    createMetrics(settings, { version: daemon.version }),
  );
  try {
    const ref = { namespace: settings.namespace, name: LEASE_NAME };
    const lease = await new LeaseStore(cluster.lease, ref, LIMIT_MS).read(host.stopSignal());
    return parseLeaseSpec(lease?.['spec']).holder;
  } finally {
    cluster.close();
  }
}
