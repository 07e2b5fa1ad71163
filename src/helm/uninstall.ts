import { OperatorError } from '../lib/errors.ts';
import { type DriverContext, processLimitMs } from './driver-context.ts';
import { uninstallArguments } from './helm-arguments.ts';
import { runHelm } from './helm-process.ts';
import { isOutwaited, ownRecord } from './own-record.ts';
import { lockedError, recordObserver, releaseState, setAside } from './recover.ts';
import { uninstallRecovery } from './recovery-table.ts';
import { labelsAtUninstall } from './release-labels.ts';

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
 * @throws OperatorError HELM_FAILED, HELM_LOCKED while somebody else works on the release; what
 * the API client throws
 */
export async function uninstallRelease(
  context: DriverContext,
  release: string,
  options: UninstallOptions,
  signal: AbortSignal,
): Promise<UninstallResult> {
  const { store, log, namespace, kubeContext, timeoutMs } = context;
  context.sharedReads.forgetRelease(release);
  const latest = await store.latest(release, signal);
  if (latest === undefined) return 'absent';
  const state = await releaseState(store, latest, signal);
  const own = ownRecord(latest, recordObserver(context));
  const step = uninstallRecovery(state, own, options.includeForeign === true);
  switch (step) {
    case 'absent':
      return step;
    case 'spare':
      log.warn({ release }, 'release was not made by this operator: it is not uninstalled');
      return 'spared';
    case 'wait':
      throw lockedError(release, state);
    case 'outwait':
      if (!isOutwaited(latest.writtenAtMs, context.clock.now(), timeoutMs)) throw lockedError(release, state);
      break;
    case 'set-aside':
      await setAside(context, latest, signal);
      log.warn(
        { release, annotation: `meta.helm.sh/release-name=${release}` },
        'objects that only the unreadable revision named may be left: look for this annotation, and delete them',
      );
      // What lies beneath our revision is ours too: we have adopted it.
      return await uninstallRelease(context, release, { includeForeign: true }, signal);
    case 'uninstall':
  }
  await store.setMetadata(
    release,
    latest.revision,
    { labels: labelsAtUninstall(context.holder.token) },
    signal,
  );
  const args = uninstallArguments({ release, namespace, kubeContext, timeoutMs });
  const outcome = await runHelm(context, { args, timeoutMs: processLimitMs(timeoutMs) }, signal);
  const left = await store.latest(release, signal);
  if (left === undefined || left.status === 'uninstalled') return 'uninstalled';
  const reason = outcome.type === 'failed' ? outcome.error : `helm left record "${left.recordName}" behind`;
  throw new OperatorError('HELM_FAILED', `Cannot uninstall release "${release}": ${reason}`);
}
