import { OperatorError } from '../lib/errors.ts';
import { type DriverContext, processLimitMs } from './driver-context.ts';
import { uninstallArguments } from './helm-arguments.ts';
import { runHelm } from './helm-process.ts';
import { isProcessAlive } from './process-alive.ts';
import { isOwned, ownFacts } from './release-labels.ts';
import { isLockAlive } from './release-lock.ts';
import { isPending } from './release-record.ts';
import type { ReleaseRevision } from './release-store.ts';

/** `spared`: the release was not made by an addon-operator, and stays. */
export type UninstallResult = 'uninstalled' | 'absent' | 'spared';

export interface UninstallOptions {
  /** Remove the release whoever made it. Default false. */
  readonly includeForeign?: boolean;
}

/**
 * Removes a release with all its history; goes on with an uninstall that was left unfinished. "Absent" is only said
 * when the API server said so.
 *
 * @throws OperatorError HELM_FAILED, HELM_LOCKED while somebody else works on the release, HELM_RELEASE_CORRUPT; what
 * the API client throws
 */
export async function uninstallRelease(
  context: DriverContext,
  release: string,
  options: UninstallOptions,
  signal: AbortSignal,
): Promise<UninstallResult> {
  const { store, log, namespace, kubeContext, timeoutMs } = context;
  const latest = await store.latest(release, signal);
  if (latest === undefined) return 'absent';
  if (options.includeForeign !== true && !isOwned(latest.labels)) {
    log.warn({ release }, 'release was not made by this operator: it is not uninstalled');
    return 'spared';
  }
  refuseLocked(context, latest);
  // helm leaves a record behind that it cannot read, and says nothing useful about it.
  await store.payload(latest, signal);
  const args = uninstallArguments({ release, namespace, kubeContext, timeoutMs });
  const outcome = await runHelm(context, { args, timeoutMs: processLimitMs(timeoutMs) }, signal);
  const left = await store.latest(release, signal);
  if (left === undefined || left.status === 'uninstalled') return 'uninstalled';
  const reason = outcome.type === 'failed' ? outcome.error : `helm left record "${left.recordName}" behind`;
  throw new OperatorError('HELM_FAILED', `Cannot uninstall release "${release}": ${reason}`);
}

function refuseLocked(context: DriverContext, latest: ReleaseRevision): void {
  if (!isPending(latest.status)) return;
  const { holder } = ownFacts(latest.labels, latest.revision);
  const pending = {
    holder,
    sinceMs: latest.createdAtMs,
    nowMs: context.clock.now(),
    helmTimeoutMs: context.timeoutMs,
  };
  if (!isLockAlive(pending, context.holder, isProcessAlive)) return;
  throw new OperatorError(
    'HELM_LOCKED',
    `Cannot uninstall release "${latest.release}": it is ${latest.status}, another helm works on it. It is tried again.`,
  );
}
