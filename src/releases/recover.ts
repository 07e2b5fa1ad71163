import { hasCode, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { parseManifest } from '@addon-operator/helm/manifest-document';
import { type ManifestObject, releaseObjects } from '@addon-operator/helm/manifest-object';
import { ownFacts } from '@addon-operator/helm/record-metadata';
import { deployRecovery, type OwnRecord, type ReleaseState } from '@addon-operator/helm/recovery-table';
import type { ReleaseRevision, ReleaseStore } from '@addon-operator/helm/release-store';
import { isProcessAlive } from '@addon-operator/process/process-alive';
import { formatGoDuration } from '@addon-operator/strings/go-duration';
import { type DriverContext, processLimitMs } from './driver-context.ts';
import { lockLimitMs, ownRecord, type RecordObserver } from './own-record.ts';
import type { ObservedRelease } from './release-action.ts';
import { replaceUnservedKinds } from './unserved-kinds.ts';

/**
 * The state of a release by its latest record. The record is read too, because helm fails at one
 * that it cannot read.
 */
type LockParts = Pick<DriverContext, 'holder' | 'lockAges' | 'timeoutMs'>;

/** Where the records are read, and what is found is logged. */
interface RecordReads {
  readonly store: Pick<ReleaseStore, 'latest' | 'payload'>;
  readonly log: Logger;
}

/** The state of a release by its latest record. That is read too: helm stumbles over one that it cannot read. */
export async function releaseState(
  store: Pick<ReleaseStore, 'payload'>,
  latest: ReleaseRevision | undefined,
  signal: AbortSignal,
): Promise<ReleaseState> {
  if (latest === undefined) return 'none';
  try {
    await store.payload(latest, signal);
    return latest.status;
  } catch (error) {
    if (hasCode(error, 'HELM_RELEASE_CORRUPT')) return 'corrupt';
    throw error;
  }
}

/** This process as an observer of the record's holder. */
export function recordObserver(
  { holder, lockAges, timeoutMs }: LockParts,
  record: ReleaseRevision,
): RecordObserver {
  return {
    self: holder,
    isProcessAlive,
    unchangedMs: lockAges.unchangedMs(record),
    helmTimeoutMs: timeoutMs,
  };
}

/**
 * The error while another helm may be using a release. Its message is the same at every attempt: a
 * changing one would be written to the module's status each time.
 */
export function lockedError(
  release: string,
  state: ReleaseState,
  own: OwnRecord,
  helmTimeoutMs: number,
): OperatorError {
  const [holder, limitMs] =
    own === 'at-work'
      ? ['another addon-operator process on this machine is using it', processLimitMs(helmTimeoutMs)]
      : ['another helm process may be using it', lockLimitMs(helmTimeoutMs)];
  return new OperatorError(
    'HELM_LOCKED',
    `Release "${release}" is ${state}: ${holder}. It will be retried, and taken over when this process has seen it ` +
      `unchanged for ${formatGoDuration(limitMs)}. If no helm process uses it, take it over now with ` +
      `"addon-operator module release-unlock ${release}".`,
  );
}

/**
 * The maximum number of records that one deployment or uninstall moves aside. helm keeps ten by
 * default.
 */
export const MAX_SET_ASIDE = 100;

/** The error after {@link MAX_SET_ASIDE} unreadable records in a row. */
export function unreadableError(release: string): OperatorError {
  return new OperatorError(
    'HELM_RELEASE_CORRUPT',
    `The newest helm record of release "${release}" cannot be read, although ${MAX_SET_ASIDE} times one was moved aside: ` +
      'a finalizer may keep it, or another client writes it again. Remove the finalizer, delete the record, or restore it ' +
      'from a backup.',
  );
}

/**
 * Moves the latest record of a release aside because it cannot be read, and logs it. Moved, not
 * deleted: a user may repair it.
 */
export async function moveLatestAway(
  { store, log }: Pick<DriverContext, 'store' | 'log'>,
  latest: ReleaseRevision,
  signal: AbortSignal,
): Promise<void> {
  const { release, revision, recordName } = latest;
  const movedTo = await store.setAside(latest, signal);
  log.warn(
    { release, revision, record: recordName, movedTo },
    'cannot read a release record: it was moved aside, and the release continues from the remaining records',
  );
}

/**
 * Removes permanent causes of helm failures from a release's records, and logs it: a record at the
 * place of the next revision that helm does not see because its labels are missing, and kinds that
 * are no longer served. Called after a failed helm.
 */
export async function removeObstacles(
  context: DriverContext,
  release: string,
  signal: AbortSignal,
): Promise<void> {
  const { store } = context;
  const latest = await store.latest(release, signal);
  const unseen = await store.unseen(release, (latest?.revision ?? 0) + 1, signal);
  if (unseen !== undefined) await moveLatestAway(context, unseen, signal);
  if (latest === undefined) return;
  await repairKinds(context, latest, signal);
  const deployed = latest.status === 'deployed' ? undefined : await store.lastDeployed(release, signal);
  if (deployed !== undefined) await repairKinds(context, deployed, signal);
}

/** Calls {@link replaceUnservedKinds}; an error is only logged, since helm may succeed anyway. */
export async function repairKinds(
  context: DriverContext,
  revision: ReleaseRevision,
  signal: AbortSignal,
): Promise<void> {
  try {
    await replaceUnservedKinds(context, revision, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { release, recordName } = revision;
    context.log.warn(
      { release, record: recordName, error },
      'cannot check a release record for unserved kinds',
    );
  }
}

/** The state of a release by its newest revision; does not check whether the record can be read. */
export function observeRelease(context: LockParts, latest: ReleaseRevision | undefined): ObservedRelease {
  if (latest === undefined) return { state: 'none', own: 'none', inputDigest: undefined, unchangedMs: 0 };
  return {
    state: latest.status,
    own: ownRecord(latest, recordObserver(context, latest)),
    inputDigest: ownFacts(latest.labels, latest.revision).inputDigest,
    unchangedMs: context.lockAges.unchangedMs(latest),
  };
}

/** The objects of a revision, from the annotation on its record, else from the record itself. */
export async function storedObjects(
  context: RecordReads,
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

/**
 * The result of a request to take over a release. `busy`: a helm of this process uses it.
 * `not-locked`: its state blocks no deployment.
 */
export type UnlockResult =
  | { readonly type: 'absent' }
  | { readonly type: 'busy'; readonly state: ReleaseState }
  | { readonly type: 'not-locked'; readonly state: ReleaseState }
  | { readonly type: 'unlocked'; readonly state: ReleaseState; readonly revision: number };

/**
 * Lets the next deployment or uninstall take a release over, though another helm may have left it
 * only a moment ago. Nothing is written: if the record changes before that, another helm really
 * uses it, and the lock is valid again.
 */
export async function unlockRelease(
  context: RecordReads & LockParts,
  release: string,
  signal: AbortSignal,
): Promise<UnlockResult> {
  const latest = await context.store.latest(release, signal);
  if (latest === undefined) return { type: 'absent' };
  const state = await releaseState(context.store, latest, signal);
  const recovery = deployRecovery(state, observeRelease(context, latest).own);
  if (recovery !== 'outwait' && recovery !== 'wait') {
    const { holder, uninstaller } = ownFacts(latest.labels, latest.revision);
    const isOurs = (state === 'uninstalling' ? uninstaller : holder) === context.holder.token;
    return { type: isOurs && recovery === 'mark-failed' ? 'busy' : 'not-locked', state };
  }
  context.lockAges.unlock(latest);
  context.log.warn(
    { release, revision: latest.revision, status: state },
    'release is taken over on request, even if another helm process is using it',
  );
  return { type: 'unlocked', state, revision: latest.revision };
}
