/** Wiring: a replica on its way to the lead, and what it shows and does while it waits. */

import { leaderPod } from '../leader/leader-host.ts';
import { type LeadOnCluster, type TakeLeadOptions, takeLead } from '../leader/take-lead.ts';
import { openStore } from '../reconcile/open-store.ts';
import type { Probes } from '../server/start-probes.ts';
import type { Settings } from '../settings.ts';
import { type Standby, standbyStatus } from '../status/standby.ts';
import type { Page } from '../ui/page.ts';
import { STARTING_VIEW } from '../views/operator-view.ts';
import { webhookPorts } from '../webhooks/webhook-server.ts';
import { type BeginDeliveryParts, deliveryOptions } from './begin-delivery.ts';
import type { Cluster } from './connect-cluster.ts';
import type { DaemonHost } from './host.ts';
import { operatorForDelivery } from './operator-for-delivery.ts';
import { prefetchContent } from './start-delivery.ts';

/** Options of every way to the lead. */
export type LeadOptions = Pick<
  TakeLeadOptions<Cluster>,
  'metrics' | 'connect' | 'running' | 'stop' | 'onLost'
> & { readonly settings: Settings; readonly host: DaemonHost };

interface ReplicaDisplay {
  readonly probes: Probes;
  readonly page: Page;
}

/**
 * Connects to the cluster, and waits until this process may act on it. Meanwhile it shows who leads, and
 * keeps the content of installed modules ready.
 */
export async function leadAsReplica(
  options: LeadOptions & Pick<BeginDeliveryParts, 'metrics' | 'redactor'>,
  { probes, page }: ReplicaDisplay,
): Promise<LeadOnCluster<Cluster>> {
  const { settings, stop } = options;
  const { podName: replica, namespace } = settings;
  const waiting = new AbortController();
  let prefetching: Promise<void> = Promise.resolve();
  try {
    return await takeLead({
      ...options,
      webhookPorts: webhookPorts(settings),
      httpPort: probes.port,
      onStandby: async (readiness, leader, cluster) => {
        const standby = (): Standby => ({ replica, namespace, leader: leaderPod(leader()) });
        probes.show({ ...STARTING_VIEW, readiness, status: () => standbyStatus(standby()) });
        await page.show({ standby });
        prefetching = prefetch(options, cluster, AbortSignal.any([stop, waiting.signal]));
      },
    });
  } finally {
    // The store is in use by one of both: what was begun has ended before the leader opens it.
    waiting.abort();
    await prefetching;
  }
}

async function prefetch(
  { settings, host, metrics, redactor }: Parameters<typeof leadAsReplica>[0],
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  const store = await openStore(settings, host, true);
  if (store === undefined) return;
  const delivering = operatorForDelivery(host, cluster, settings.namespace);
  const common = { settings, host, kube: cluster.main, store, metrics, redactor, delivering };
  await prefetchContent(
    deliveryOptions(common, () => undefined),
    signal,
  );
}
