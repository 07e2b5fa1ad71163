/**
 * Takes over one module from the operator in the cluster, for `addon-operator dev`. It works as the election does, with an
 * entry in a ConfigMap in place of the Lease: acquire the entry, wait until the operator has ended its runs of the module
 * and notes its acceptance, renew until the end, then release. A holder that shows signs of life is not displaced unless
 * forced; one that has died is replaced when its entry expires.
 */

import { OperatorError } from '@addon-operator/base/errors';
import { type ConfigMapRef, readConfigMapData } from '@addon-operator/kube-client/config-map-object';
import {
  type HandOverEntry,
  handOverKey,
  holderName,
  type OwnerNote,
  parseHandOver,
  signOfLife,
} from '@addon-operator/kube-client/hand-over/hand-over-entry';
import { HandOverStore } from '@addon-operator/kube-client/hand-over/hand-over-store';
import { LeaseFence } from '@addon-operator/kube-client/leader-election/lease-fence';
import { requireNamespace } from '@addon-operator/kube-client/require-namespace';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { LeaseTimeSettings } from '../settings/lease-settings.ts';
import { Leadership, leaseTimes, sendLast } from './leadership.ts';
import type { Lead, LeadClients, LeadOnCluster, TakeLeadOptions } from './take-lead.ts';

/** How far a module is on its way to this process, and back. */
export type TakeProgress =
  /** Another process had it last, and may still be alive. */
  | { readonly type: 'held'; readonly by: string }
  | { readonly type: 'requested' }
  /** The operator in the cluster ends what it runs of the module. */
  | { readonly type: 'ending'; readonly by: string }
  | { readonly type: 'accepted'; readonly by: string; readonly facts: OwnerNote['facts'] }
  | { readonly type: 'given-back' }
  /** It could not be given back: the operator takes it back when the entry lapses. */
  | { readonly type: 'not-given-back' }
  /** It was lost before, and nothing of it runs here any more. */
  | { readonly type: 'ended' };

export interface TakeModuleOptions<Cluster extends LeadClients>
  extends Pick<TakeLeadOptions<Cluster>, 'host' | 'metrics' | 'connect' | 'running' | 'stop' | 'onLost'> {
  readonly settings: LeaseTimeSettings & Pick<InstanceSettings, 'namespace'>;
  readonly module: string;
  /** The ConfigMap with the entries. */
  readonly ref: ConfigMapRef;
  /** The name of this process, which no other has. */
  readonly holder: string;
  /** Whether the module is taken away from another process that runs it. */
  readonly isForced: boolean;
  readonly onProgress: (progress: TakeProgress) => void;
}

/** An operator notes at once that it has seen the entry, however long its runs of the module take. */
const NO_OPERATOR_MS = 30_000;
const LOOK_MS = 500;

/**
 * Connects to the cluster and waits until the operator in the cluster hands a module over. What is connected writes nothing
 * once the entry was not renewed in time, as with a lease. The module is handed back when everything that is added to `running` later has ended.
 *
 * @throws OperatorError HAND_OVER_REFUSED when another process runs the module, or no operator responds
 */
export async function takeModule<Cluster extends LeadClients>(
  options: TakeModuleOptions<Cluster>,
): Promise<LeadOnCluster<Cluster>> {
  const { settings, host, connect, metrics, module, ref, holder, isForced, running, stop, onProgress } =
    options;
  const fence = new LeaseFence(host.steadyClock);
  const check = (): void => fence.check();
  const cluster = await connect(check);
  running.defer(() => cluster.close());
  await requireNamespace(settings, host, cluster.main, stop);
  const refused = new AbortController();
  const seconds = Math.round(settings.leaseDurationMs / 1_000);
  const onRead = otherHolder(options, (error) => refused.abort(error));
  const store = new HandOverStore({ kube: cluster.lease, ref, name: module, holder, isForced, onRead });
  const notReleased = `cannot hand module ${module} back: the operator takes it back ${seconds} s after the last renewal`;
  const leadership = new Leadership({
    lease: {
      store,
      identity: holder,
      times: leaseTimes(settings),
      released: `module ${module} is handed back to the operator in ${ref.namespace}`,
      notReleased,
    },
    host,
    fence,
    metrics,
    onLost: (error) => {
      isLost = true;
      options.onLost(error);
    },
  });
  let isHeld = false;
  let isLost = false;
  running.defer(async () => {
    const isGivenBack = await leadership.release();
    if (isLost) await sendLast((signal) => store.noteEnd(signal), host, notReleased);
    if (isHeld) onProgress({ type: isLost ? 'ended' : isGivenBack ? 'given-back' : 'not-given-back' });
  });
  await leadership.acquire(AbortSignal.any([stop, refused.signal]));
  isHeld = true;
  onProgress({ type: 'requested' });
  const { by, facts } = await untilAccepted(options, cluster);
  onProgress({ type: 'accepted', by, facts });
  const lead: Lead = {
    check,
    follow: (processes) => leadership.follow(processes),
    onDeadlinePassed: () => leadership.lose({ type: 'not-renewed' }),
  };
  return { cluster, lead };
}

/** Distinguishes a holder that is alive, for which this process does not wait, from one that has ended without notice. */
function otherHolder(
  { holder, isForced, module, onProgress }: TakeModuleOptions<LeadClients>,
  refuse: (error: OperatorError) => void,
): (entry: HandOverEntry | undefined) => void {
  let first: HandOverEntry | undefined;
  let isOurs = false;
  return (entry) => {
    isOurs ||= entry?.holder === holder;
    if (isOurs || isForced || entry === undefined || entry.holder === '') return;
    const by = holderName(entry.holder);
    if (first === undefined) onProgress({ type: 'held', by });
    first ??= entry;
    if (signOfLife(first) === signOfLife(entry)) return;
    refuse(
      new OperatorError(
        'HAND_OVER_REFUSED',
        `module ${module} is handed over to addon-operator dev of ${by} since ${entry.acquireTime}: end that one, or take the module away with --force`,
      ),
    );
  };
}

async function untilAccepted(
  { host, module, ref, holder, stop, onProgress }: TakeModuleOptions<LeadClients>,
  cluster: LeadClients,
): Promise<OwnerNote> {
  const { steadyClock } = host;
  const giveUpMs = steadyClock.steadyMs() + NO_OPERATOR_MS;
  let isSeen = false;
  for (;;) {
    const data = await readConfigMapData(cluster.lease, ref, stop);
    const note = parseHandOver(data[handOverKey(module)])?.note;
    if (note?.holder === holder) {
      if (note.state === 'accepted') return note;
      if (!isSeen) onProgress({ type: 'ending', by: note.by });
      isSeen = true;
    }
    if (!isSeen && steadyClock.steadyMs() >= giveUpMs)
      throw new OperatorError(
        'HAND_OVER_REFUSED',
        `no operator in namespace ${ref.namespace} has handed module ${module} over within ${NO_OPERATOR_MS / 1_000} s: it runs there in this version or a later one, with the ConfigMap ${ref.name.replace(/-pauses$/u, '')} (--namespace, --config-map)? "kubectl -n ${ref.namespace} get pods" shows it`,
      );
    await steadyClock.sleep(LOOK_MS, stop);
  }
}
