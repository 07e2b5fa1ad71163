import { OperatorError } from '@addon-operator/base/errors';
import { rollbackArguments } from '@addon-operator/helm/helm-arguments';
import { type HelmOutcome, runHelm } from '@addon-operator/helm/helm-process';
import type { ManifestObject } from '@addon-operator/helm/manifest-object';
import {
  HOLDER_LABEL,
  isKept,
  isOwned,
  labelsWhenKept,
  metadataWhenDeployed,
  ownFacts,
  renderedChecksum,
} from '@addon-operator/helm/record-metadata';
import { deployRecovery } from '@addon-operator/helm/recovery-table';
import type { ReleasePayload } from '@addon-operator/helm/release-record';
import { copiedLabels } from '@addon-operator/helm/release-source';
import type { ReleaseRevision } from '@addon-operator/helm/release-store';
import type { DriftPolicy } from './drift/drift-policy.ts';
import { type DriverContext, processLimitMs } from './driver-context.ts';
import { withAdvice } from './helm-advice.ts';
import { tracedHelm } from './helm-spans.ts';
import { lockLimitMs } from './own-record.ts';
import { lockedError, observeRelease, releaseState, repairKinds, storedObjects } from './recover.ts';

export interface RollbackRequest {
  readonly release: string;
  /** The revision whose manifest and values come back. */
  readonly revision: number;
  /** For the objects that come back; default: the settings. */
  readonly drift?: DriftPolicy;
}

export interface RollbackResult {
  /** The new revision. */
  readonly revision: number;
  /** The digest of chart and values of the revision that came back; undefined if it was not ours. */
  readonly digest: string | undefined;
  readonly objects: readonly ManifestObject[];
}

/**
 * Has helm make a new revision with manifest, values and helm hooks of an earlier one. Objects that
 * only later revisions have are removed, as in an upgrade. The new record gets our labels, so that a
 * later deployment of the same chart and values finds nothing to do.
 *
 * @throws OperatorError HELM_FAILED; HELM_LOCKED while another client uses the release;
 *   HELM_RELEASE_CORRUPT when the revision cannot be read; `signal.reason` on abort
 */
export async function rollbackRelease(
  context: DriverContext,
  { release, revision }: RollbackRequest,
  signal: AbortSignal,
): Promise<RollbackResult> {
  const { store } = context;
  context.sharedReads.forgetRelease(release);
  const target = (await store.history(release, signal)).find((one) => one.revision === revision);
  const latest = await store.latest(release, signal);
  if (target === undefined || latest === undefined)
    throw new OperatorError('HELM_FAILED', `Release "${release}" has no revision ${revision}`);
  await unlockIfLeft(context, latest, signal);
  const { manifest, values } = await store.payload(target, signal);
  await repairKinds(context, latest, signal);
  const outcome = await runRollback(context, { release, revision }, values, signal);
  context.sharedReads.forgetRelease(release);
  if (outcome.type === 'failed') {
    const error = withAdvice(outcome.error);
    throw new OperatorError(
      'HELM_FAILED',
      `Cannot roll release "${release}" back to revision ${revision}: ${error}`,
    );
  }
  const objects = await storedObjects(context, target, signal);
  const { inputDigest, checksum } = ownFacts(target.labels, revision);
  const made = latest.revision + 1;
  const facts = {
    revision: made,
    // Without a digest of ours no later deployment takes it for its own.
    inputDigest: inputDigest ?? '',
    checksum: checksum ?? renderedChecksum(manifest),
  };
  const metadata = metadataWhenDeployed(facts, objects, target.note);
  const source = (await store.sources(release, signal)).get(target.recordName);
  const labels = {
    ...metadata.labels,
    ...copiedLabels(target, made),
    [HOLDER_LABEL]: context.holder.token,
    ...labelsWhenKept(isKept(latest.labels)),
  };
  const record = await store.setMetadata(release, made, { ...metadata, labels }, signal);
  if (record !== undefined && source !== undefined) await store.writeSource(record, source, signal);
  return { revision: made, digest: inputDigest, objects };
}

/** Marks a revision that a helm of ours left unfinished as failed. @throws OperatorError as {@link rollbackRelease} */
async function unlockIfLeft(
  context: DriverContext,
  latest: ReleaseRevision,
  signal: AbortSignal,
): Promise<void> {
  const { release } = latest;
  if (!isOwned(latest.labels))
    throw new OperatorError(
      'HELM_FAILED',
      `Release "${release}" was not made by this operator: use helm rollback`,
    );
  const { own, unchangedMs } = observeRelease(context, latest);
  const state = await releaseState(context.store, latest, signal);
  const recovery = deployRecovery(state, own);
  const isLocked = recovery === 'outwait' && unchangedMs < lockLimitMs(context.timeoutMs);
  if (recovery === 'wait' || isLocked) throw lockedError(release, state, own, context.timeoutMs);
  if (recovery === 'set-aside')
    throw new OperatorError(
      'HELM_RELEASE_CORRUPT',
      `The newest helm record of release "${release}" cannot be read`,
    );
  if (recovery === 'mark-failed' || recovery === 'outwait')
    await context.store.markFailed(latest, context.clock.wallMs(), signal);
}

async function runRollback(
  context: DriverContext,
  { release, revision }: RollbackRequest,
  values: ReleasePayload['values'],
  signal: AbortSignal,
): Promise<HelmOutcome> {
  const { helm, namespace, kubeContext, timeoutMs, historyMax } = context;
  const args = rollbackArguments(helm, { release, namespace, kubeContext, timeoutMs, historyMax, revision });
  // Their texts are taken out of helm's errors.
  const run = { args, timeoutMs: processLimitMs(timeoutMs), values };
  const runWithin = (): Promise<HelmOutcome> =>
    tracedHelm({ parent: undefined, release }, 'rollback', (span) =>
      runHelm(context, { ...run, span }, signal),
    );
  return await context.prepared.run(release, runWithin, signal);
}
