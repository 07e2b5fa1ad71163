import { hostname } from 'node:os';
import type { SteadyClock, WallClock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { canonicalJson } from '@addon-operator/json';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import type { Settings } from '../settings.ts';
import type { LeadershipHost } from './leadership.ts';
import { parseLeaseSpec } from './lease-election.ts';
import { LeaseStore } from './lease-store.ts';
import { microTime } from './micro-time.ts';

/** How often a sign of life is left, in milliseconds. */
const PERIOD_MS = 30_000;
const PERIODS_PER_LEASE = 3;

interface PresenceOptions {
  readonly store: LeaseStore;
  /** Of this process alone. */
  readonly identity: string;
  readonly steadyClock: SteadyClock;
  /** For the times in the Lease. */
  readonly wallClock: WallClock;
  readonly log: Logger;
}

/**
 * Leaves a sign of life in a Lease from time to time, and warns, once for each, of others that do so too: they work
 * against us. The first entry found may be of a dead operator; an entry written after ours is not. Nothing depends on it, so
 * errors are logged at level debug only, and without permission it stops.
 *
 * @param signal ends it
 */
export async function showPresence(options: PresenceOptions, signal: AbortSignal): Promise<void> {
  const { steadyClock, store, log } = options;
  const warned = new Set<string>();
  let written: string | undefined;
  try {
    for (;;) {
      await steadyClock.sleep(PERIOD_MS, signal);
      try {
        const read = await store.read(signal);
        const { holder } = parseLeaseSpec(read?.['spec']);
        const isAnothers = written !== undefined && canonicalJson(read?.['spec']) !== written;
        if (isAnothers && holder !== options.identity && holder !== '' && !warned.has(holder)) {
          warned.add(holder);
          log.warn(
            { other: holder, lease: store.ref.name },
            'another operator is running in this namespace, and the two revert the changes of each other: stop one, or run both with ADDON_OPERATOR_HA',
          );
        }
        const object = await store.write(read, specOf(options), signal);
        if (object !== undefined) written = canonicalJson(object['spec']);
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
  { namespace, configMapName }: Settings,
  { random, clock: wallClock, steadyClock, log }: LeadershipHost,
  kube: KubeClient,
  stop: AbortSignal,
): () => Promise<void> {
  const nonce = Math.floor(random() * NONCE_RANGE).toString(16);
  const store = new LeaseStore(kube, { namespace, name: `${configMapName}-presence` }, REQUEST_TIMEOUT_MS);
  const identity = `${hostname()}.${process.pid}.${nonce}`;
  const ended = showPresence({ store, identity, steadyClock, wallClock, log }, stop);
  return () => ended;
}
