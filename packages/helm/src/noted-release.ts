import { hasCode } from '@addon-operator/base/errors';
import type { ReleaseRevision, ReleaseStore } from './release-store.ts';

/** The last deployment of a release by this operator that has a note. */
export interface NotedRelease {
  readonly release: string;
  readonly note: string;
  /** The values that helm was given; undefined when the record cannot be read. @throws what the API client throws */
  values(signal: AbortSignal): Promise<Readonly<Record<string, unknown>> | undefined>;
}

/** One for each release that has a revision with a note, the latest deployment first. */
export async function notedReleases(
  store: Pick<ReleaseStore, 'noted' | 'payload'>,
  signal: AbortSignal,
): Promise<readonly NotedRelease[]> {
  const newest = new Map<string, ReleaseRevision>();
  for (const revision of (await store.noted(signal)).toSorted((a, b) => a.revision - b.revision))
    newest.set(revision.release, revision);
  return [...newest.values()].toSorted(laterFirst).map((revision) => ({
    release: revision.release,
    note: revision.note ?? '',
    values: async (readSignal) => {
      try {
        return (await store.payload(revision, readSignal)).values;
      } catch (error) {
        if (hasCode(error, 'HELM_RELEASE_CORRUPT')) return undefined;
        throw error;
      }
    },
  }));
}

/** helm records whole seconds; records of the same second are ordered by the API server's own count. */
function laterFirst(a: ReleaseRevision, b: ReleaseRevision): number {
  return writtenAt(b) - writtenAt(a) || Number(b.resourceVersion) - Number(a.resourceVersion);
}

function writtenAt({ labels }: ReleaseRevision): number {
  return Number(labels['modifiedAt'] ?? labels['createdAt'] ?? 0);
}
