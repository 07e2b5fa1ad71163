/**
 * Detects another active operator on the same ConfigMap. Both write their name to a Lease and see the name of the other.
 * It only warns: it is no lock, and an error never stops the operator.
 */

import { hostname } from 'node:os';
import type { SteadyClock, WallClock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { canonicalJson } from '@addon-operator/json';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { parseLeaseSpec } from '@addon-operator/kube-client/leader-election/lease-election';
import { type LeaseObject, LeaseStore } from '@addon-operator/kube-client/leader-election/lease-store';
import { leaseChange } from '@addon-operator/kube-client/leader-election/lease-watch';
import { microTime } from '@addon-operator/kube-client/leader-election/micro-time';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { LeadershipHost } from './leadership.ts';

/** From the start of the operator to its first look at the Lease, in milliseconds: most starts are over by then. */
const FIRST_LOOK_MS = 10_000;
/** Between two looks at the Lease, in milliseconds; a predecessor that is being replaced has ended by then. */
const PERIOD_MS = 30_000;
const PERIODS_PER_LEASE = 3;

interface PresenceOptions {
  readonly store: LeaseStore;
  /** Resolves when another client may have written the Lease since it was as given; see {@link leaseChange}. */
  readonly changed: (lease: LeaseObject, signal: AbortSignal) => Promise<void>;
  /** Of this process alone. */
  readonly identity: string;
  readonly steadyClock: SteadyClock;
  /** For the times in the Lease. */
  readonly wallClock: WallClock;
  readonly log: Logger;
}

/**
 * Writes the name of this operator to a Lease, and again half a minute after another client has written or deleted it. It
 * warns, once for each, of other operators that write there too: they work against this one. The first entry found may be
 * of a dead operator; an entry written after ours is not. A watch reports changes, so an operator that is alone sends no
 * further requests. Without permission to watch, the Lease is read and written every half minute.
 *
 * Nothing depends on it, so errors are logged at level debug only, and without permission to read or write it stops.
 *
 * @param signal ends it
 */
export async function showPresence(options: PresenceOptions, signal: AbortSignal): Promise<void> {
  const { steadyClock, store, changed, log } = options;
  const warned = new Set<string>();
  let written: string | undefined;
  let mayWatch = true;
  /** Returns the Lease with our entry; undefined when another client wrote at the same time. */
  const look = async (): Promise<LeaseObject | undefined> => {
    const read = await store.read(signal);
    const { holder } = parseLeaseSpec(read?.['spec']);
    const isOurs = canonicalJson(read?.['spec']) === written;
    // The watch broke, and nothing has changed in the meantime.
    if (isOurs && mayWatch) return read;
    const isAnothers = written !== undefined && !isOurs;
    if (isAnothers && holder !== options.identity && holder !== '' && !warned.has(holder)) {
      warned.add(holder);
      log.warn(
        { other: holder, lease: store.ref.name },
        'another operator is running in this namespace, and the two revert the changes of each other: stop one, or run both with ADDON_OPERATOR_HA',
      );
    }
    const lease = await store.write(read, specOf(options), signal);
    if (lease !== undefined) written = canonicalJson(lease['spec']);
    return lease;
  };
  const awaitChange = async (lease: LeaseObject): Promise<void> => {
    try {
      await changed(lease, signal);
    } catch (error) {
      if (!hasStatus(error, 403)) throw error;
      mayWatch = false;
    }
  };
  try {
    for (let delayMs = FIRST_LOOK_MS; ; delayMs = PERIOD_MS) {
      await steadyClock.sleep(delayMs, signal);
      try {
        const lease = await look();
        if (mayWatch && lease !== undefined) await awaitChange(lease);
      } catch (error) {
        signal.throwIfAborted();
        log.debug(errorFields(error), 'cannot check for other operators');
        if (hasStatus(error, 403)) return;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function specOf({ identity, wallClock }: PresenceOptions): Readonly<Record<string, unknown>> {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: (PERIOD_MS * PERIODS_PER_LEASE) / 1_000,
    renewTime: microTime(wallClock.wallMs()),
  };
}

const REQUEST_TIMEOUT_MS = 10_000;
const NONCE_RANGE = 2 ** 32;

/**
 * Looks for other operators on the same ConfigMap from time to time, until the daemon stops.
 *
 * @returns waits for its end, to be called after `stop` has aborted
 */
export function startPresence(
  { namespace, configMapName }: InstanceSettings,
  { random, clock: wallClock, steadyClock, log }: LeadershipHost,
  kube: KubeClient,
  stop: AbortSignal,
): () => Promise<void> {
  const nonce = Math.floor(random() * NONCE_RANGE).toString(16);
  const store = new LeaseStore(kube, { namespace, name: `${configMapName}-presence` }, REQUEST_TIMEOUT_MS);
  const deps = { kube, clock: steadyClock, random };
  const changed = (lease: LeaseObject, signal: AbortSignal) => leaseChange(deps, store.ref, lease, signal);
  const identity = `${hostname()}.${process.pid}.${nonce}`;
  const ended = showPresence({ store, changed, identity, steadyClock, wallClock, log }, stop);
  return () => ended;
}
