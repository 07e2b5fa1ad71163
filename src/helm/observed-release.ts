import type { DriverContext } from './driver-context.ts';
import { parseManifest } from './manifest-document.ts';
import { type ManifestObject, releaseObjects } from './manifest-object.ts';
import { ownRecord } from './own-record.ts';
import { recordObserver } from './recover.ts';
import type { ObservedRelease } from './release-action.ts';
import { ownFacts } from './release-labels.ts';
import type { ReleaseRevision } from './release-store.ts';

/** What the newest revision of a release says of it; whether the record can be read is not looked at. */
export function observeRelease(context: DriverContext, latest: ReleaseRevision | undefined): ObservedRelease {
  if (latest === undefined) return { state: 'none', own: 'none', inputDigest: undefined, unchangedMs: 0 };
  return {
    state: latest.status,
    own: ownRecord(latest, recordObserver(context, latest)),
    inputDigest: ownFacts(latest.labels, latest.revision).inputDigest,
    unchangedMs: context.lockAges.unchangedMs(latest),
  };
}

/** What a revision consists of, by the note on its record, else by the record itself. */
export async function storedObjects(
  context: DriverContext,
  latest: ReleaseRevision | undefined,
  signal: AbortSignal,
): Promise<readonly ManifestObject[]> {
  if (latest === undefined) return [];
  if (latest.objects !== undefined) return latest.objects;
  const { manifest } = await context.store.payload(latest, signal);
  try {
    return releaseObjects(parseManifest(manifest));
  } catch (error) {
    context.log.warn(
      { release: latest.release, revision: latest.revision, error },
      'stored manifest is unreadable',
    );
    return [];
  }
}
