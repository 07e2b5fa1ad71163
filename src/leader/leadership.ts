/**
 * The state of this replica in the election: standby, leader, over. The elector (`packages/`) renews the lease; this class
 * connects it with the fence (which stops writes when the term ends), the child processes (which are killed at the end of
 * the term even if this process hangs) and the metrics. `lose` and `release` are final: a process leads at most once.
 */

import type { Clock, SteadyClock } from '@addon-operator/base/clock';
import { errorFields, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import { withDeadline } from '@addon-operator/kube-client/deadline';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import {
  LeaderElector,
  type LeaderElectorOptions,
  type LeaseLoss,
} from '@addon-operator/kube-client/leader-election/leader-elector';
import type { LeaseTimes } from '@addon-operator/kube-client/leader-election/lease-election';
import type { LeaseFence } from '@addon-operator/kube-client/leader-election/lease-fence';
import { LeaseStore } from '@addon-operator/kube-client/leader-election/lease-store';
import type { LeaseTerm } from '@addon-operator/kube-client/leader-election/lease-term';
import type { BoundProcesses } from '@addon-operator/process/run-deadline';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { LeaseSettings, LeaseTimeSettings } from '../settings/lease-settings.ts';
import type { ServerSettings } from '../settings/server-settings.ts';

/** Of the Lease in the operator's namespace. */
export const LEASE_NAME = 'addon-operator-leader-election';
const RELEASE_TIMEOUT_MS = 5_000;

/** The parts of the process that the election uses. */
export interface LeadershipHost {
  readonly clock: Clock;
  /** For the term, which other processes observe too. */
  readonly steadyClock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** The lease that gives the right to act. */
export interface LeadershipLease {
  readonly store: LeaderElectorOptions['store'];
  readonly identity: string;
  readonly times: LeaseTimes;
  /** Log messages for a lease that was released, and for one that could not be. */
  readonly released: string;
  readonly notReleased: string;
}

export interface LeadershipOptions {
  readonly lease: LeadershipLease;
  readonly host: LeadershipHost;
  readonly fence: LeaseFence;
  readonly metrics: Pick<OperatorMetrics, 'setLeader' | 'leaseError'>;
  /** Called once, when this replica must not act any more; hooks and helm must be ended first. */
  readonly onLost: (error: OperatorError) => void;
}

/** The part of this replica in the election: standby, then leader, until the lease is lost or given back. */
export class Leadership {
  readonly #options: LeadershipOptions;
  readonly #elector: LeaderElector;
  readonly #end = new AbortController();
  #holding: Promise<void> = Promise.resolve();
  #term: LeaseTerm | undefined;
  #processes: BoundProcesses | undefined;
  #isOver = false;

  constructor(options: LeadershipOptions) {
    const { lease, host, metrics } = options;
    this.#options = options;
    this.#elector = new LeaderElector({
      store: lease.store,
      identity: lease.identity,
      times: lease.times,
      steadyClock: host.steadyClock,
      random: host.random,
      wallClock: host.clock,
      log: componentLog(host, 'leader'),
      onTerm: (term) => this.#onTerm(term),
      onFailure: () => metrics.leaseError(),
    });
  }

  /** Identity of the leader when we looked last; empty when there is none. */
  get leader(): string {
    return this.#elector.holder;
  }

  /** Resolves when this replica leads; from then on it renews the lease. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<void> {
    await this.#elector.acquire(signal);
    this.#options.metrics.setLeader(true);
    this.#holding = this.#elector.hold(this.#end.signal).then(
      (loss) => this.lose(loss),
      () => undefined,
    );
  }

  /** From now on these processes end with the lease, even if this process does not terminate them. */
  follow(processes: BoundProcesses): void {
    this.#processes = processes;
    if (this.#term !== undefined) processes.setDeadline(this.#term);
  }

  /** To be called when this replica must not act any more; only the first call has an effect. */
  lose(loss: LeaseLoss): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { fence, metrics, onLost } = this.#options;
    fence.close();
    // Another replica may be active already: there is no time for processes to exit by themselves.
    if (loss.type === 'taken') this.#processes?.setDeadline({ termAtMs: 0, killAtMs: 0 });
    metrics.setLeader(false);
    onLost(new OperatorError('LEASE_LOST', lossText(loss)));
    this.#end.abort();
  }

  /**
   * Releases the lease, if it is ours. To be called when hooks and helm of this process have ended. Returns whether it was
   * released.
   */
  async release(): Promise<boolean> {
    const { fence, host, lease, metrics } = this.#options;
    // A lease that is lost already belongs to another replica.
    const isLeader = this.#term !== undefined && !this.#isOver;
    this.#isOver = true;
    this.#end.abort();
    // The renewal must have ended: it would acquire the lease again after the release.
    await this.#holding;
    if (!isLeader) return false;
    fence.close();
    metrics.setLeader(false);
    const release = (signal: AbortSignal): Promise<void> => this.#elector.release(signal);
    const isReleased = await sendLast(release, host, lease.notReleased);
    if (isReleased) host.log.info({}, lease.released);
    return isReleased;
  }

  #onTerm(term: LeaseTerm): void {
    this.#term = term;
    this.#options.fence.extend(term.stopAtMs);
    this.#processes?.setDeadline(term);
  }
}

/**
 * Sends what others are waiting for when nothing of this process runs any more, and does not wait long for a response. Returns
 * whether it arrived; if not, `failed` is logged.
 */
export async function sendLast(
  send: (signal: AbortSignal) => Promise<void>,
  { steadyClock: clock, log }: LeadershipHost,
  failed: string,
): Promise<boolean> {
  const error = (): Error => new OperatorError('KUBE_UNREACHABLE', 'no response');
  const deadline = { clock, limitMs: RELEASE_TIMEOUT_MS, error };
  try {
    await withDeadline(deadline, new AbortController().signal, send);
    return true;
  } catch (cause) {
    log.warn(errorFields(cause), failed);
    return false;
  }
}

/** The settings of one replica among several. */
type ReplicaSettings = LeaseSettings &
  Pick<ServerSettings, 'listenAddress'> &
  Pick<InstanceSettings, 'namespace'>;

/** The Lease that replicas compete for. @param kube not behind the fence, and without a limit of rate */
export function replicaLease(settings: ReplicaSettings, kube: KubeClient): LeadershipLease {
  const { namespace, leaseRetryPeriodMs } = settings;
  return {
    store: new LeaseStore(kube, { namespace, name: LEASE_NAME }, leaseRetryPeriodMs),
    identity: leaderIdentity(settings),
    times: leaseTimes(settings),
    released: 'the lease is released',
    notReleased: 'cannot release the lease: another replica takes over when it expires',
  };
}

export function leaseTimes(settings: LeaseTimeSettings): LeaseTimes {
  return {
    durationMs: settings.leaseDurationMs,
    renewDeadlineMs: settings.leaseRenewDeadlineMs,
    retryPeriodMs: settings.leaseRetryPeriodMs,
  };
}

/** `<pod>.<ip>.<namespace>.pod`: below the domain of a cluster, DNS resolves it to the pod. */
function leaderIdentity({ podName, listenAddress, namespace }: ReplicaSettings): string {
  return `${podName}.${listenAddress.replaceAll(/[.:]/g, '-')}.${namespace}.pod`;
}

function lossText(loss: LeaseLoss): string {
  if (loss.type === 'not-renewed') return 'The lease could not be renewed in time';
  return loss.by === '' ? 'The lease was taken away' : `The lease is held by ${loss.by}`;
}
