import { ownFacts, saysDeployed } from './record-metadata.ts';
import type { ReleaseRevision, ReleaseStore } from './release-store.ts';

/** Statuses of revisions that were not deployed, unless a label says so: see {@link labelsWhenMarkedFailed}. */
const NEVER_DEPLOYED: readonly string[] = ['failed', 'pending-install'];

type History = Pick<ReleaseStore, 'history' | 'hasUnreadable' | 'remove'>;

/**
 * Whether all that was ever tried with a release is a first install that failed. Then the next try is an install again:
 * an upgrade would skip the hooks for an install, as if those that failed had succeeded.
 */
export async function isFirstInstallPending(
  store: History,
  release: string,
  signal: AbortSignal,
): Promise<boolean> {
  const history = await store.history(release, signal);
  if (history.length === 0 || !history.every(wasNeverDeployed)) return false;
  // The content of a record that was set aside is unknown.
  return !(await store.hasUnreadable(release, signal));
}

/**
 * Keeps as many records of failed installs as the settings say, as `helm upgrade` does by itself: `helm install` knows
 * no limit, and would add one with every try for ever.
 *
 * @param historyMax revisions to keep, the next one included; 0 keeps all
 */
export async function dropOldestFailures(
  store: History,
  release: string,
  historyMax: number,
  signal: AbortSignal,
): Promise<void> {
  if (historyMax === 0) return;
  const history = (await store.history(release, signal)).filter(wasNeverDeployed);
  const count = history.length - Math.max(1, historyMax - 1);
  for (const revision of history.slice(0, Math.max(0, count))) await store.remove(revision, signal);
}

/** The checksum of a revision is recorded once it is deployed, and kept when its status changes afterwards. */
function wasNeverDeployed({ status, labels, revision }: ReleaseRevision): boolean {
  const wasApplied = saysDeployed(labels) || ownFacts(labels, revision).checksum !== undefined;
  return NEVER_DEPLOYED.includes(status) && !wasApplied;
}
