import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { HistoryEntry } from '../delivery/history.ts';
import type { RevisionView, VersionView } from '../status/module-details.ts';

/**
 * The versions that a source delivered, each with the newest revision that was deployed while it ran. The record of delivery
 * has no revisions, since a version runs many times, and the release no digests of manifests: times join them.
 *
 * @param entries the newest first
 */
export function versionViews(
  entries: readonly HistoryEntry[],
  revisions: readonly Pick<RevisionView, 'revision' | 'deployedAt'>[],
): readonly VersionView[] {
  const deployed = revisions.flatMap(({ revision, deployedAt }) =>
    deployedAt === null ? [] : [{ revision, atMs: Date.parse(deployedAt) }],
  );
  return entries.map(({ atMs, reason = '', ...entry }, index) => {
    const endMs = entries[index - 1]?.atMs ?? Number.POSITIVE_INFINITY;
    const own = deployed.filter((one) => one.atMs >= atMs && one.atMs < endMs);
    const revision = own.length === 0 ? null : Math.max(...own.map((one) => one.revision));
    return { ...entry, revision, reason, at: isoTime(atMs) };
  });
}
