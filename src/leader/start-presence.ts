import { hostname } from 'node:os';
import type { KubeClient } from '../kube/kube-client.ts';
import type { Settings } from '../settings.ts';
import type { LeadershipHost } from './leadership.ts';
import { LeaseStore } from './lease-store.ts';
import { showPresence } from './presence.ts';

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
