// Uninstalls releases. The operator calls it through the driver for deletions and purges. Before
// helm runs, the newest record decides what is possible: an unreadable one is moved aside, one of
// another helm is waited for, one without our label is spared. After helm, the record is read again: only its absence proves the success.

import { OperatorError } from '@addon-operator/base/errors';
import type { Span } from '@addon-operator/base/trace';
import { uninstallArguments } from '@addon-operator/helm/helm-arguments';
import { type HelmOutcome, helmError, runHelm } from '@addon-operator/helm/helm-process';
import { objectTitle } from '@addon-operator/helm/manifest-object';
import { labelsAtUninstall } from '@addon-operator/helm/record-metadata';
import { uninstallRecovery } from '@addon-operator/helm/recovery-table';
import type { ReleaseRevision } from '@addon-operator/helm/release-store';
import { manifestObjects, withoutObjects } from '@addon-operator/helm/transform-manifest';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { type DriverContext, processLimitMs } from './driver-context.ts';
import { withAdvice } from './helm-advice.ts';
import { tracedHelm } from './helm-spans.ts';
import { deleteLeftovers, findLeftovers, type Leftover } from './leftover-objects.ts';
import { lockLimitMs, ownRecord } from './own-record.ts';
import {
  lockedError,
  MAX_SET_ASIDE,
  moveLatestAway,
  recordObserver,
  releaseState,
  repairKinds,
  unreadableError,
} from './recover.ts';
import type { UninstallSteps } from './release-steps.ts';

/** `spared`: the release was not created by an addon-operator, and stays. */
export type UninstallResult = 'uninstalled' | 'absent' | 'spared';

export interface UninstallOptions {
  /** Remove the release even if this operator does not own it. Default false. */
  readonly includeForeign?: boolean;
  /** Steps of other rooms around the uninstall; default: none. */
  readonly steps?: UninstallSteps | undefined;
  /** Parent of the span of helm; default: nothing is traced. */
  readonly span?: Span | undefined;
}

/**
 * Removes a release with its history; continues an unfinished uninstall. Objects that only earlier
 * revisions list, which helm leaves behind after a failed upgrade, are deleted too. The result is
 * "absent" only if the API server says so.
 *
 * @throws OperatorError HELM_FAILED, HELM_LOCKED while another client uses the release,
 *   HELM_RELEASE_CORRUPT; errors of the API client and of the steps
 */
export async function uninstallRelease(
  context: DriverContext,
  release: string,
  options: UninstallOptions,
  signal: AbortSignal,
): Promise<UninstallResult> {
  const { store, log, timeoutMs } = context;
  let isForced = options.includeForeign === true;
  for (let moved = 0; moved < MAX_SET_ASIDE; moved += 1) {
    context.sharedReads.forgetRelease(release);
    const latest = await store.latest(release, signal);
    if (latest === undefined) return 'absent';
    const state = await releaseState(store, latest, signal);
    const observer = recordObserver(context, latest);
    const own = ownRecord(latest, observer);
    const step = uninstallRecovery(state, own, isForced);
    switch (step) {
      case 'absent':
        return step;
      case 'spare':
        log.warn({ release }, 'release was not created by this operator: it is not uninstalled');
        return 'spared';
      case 'wait':
        throw lockedError(release, state, own, timeoutMs);
      case 'outwait':
        if (observer.unchangedMs < lockLimitMs(timeoutMs)) throw lockedError(release, state, own, timeoutMs);
        break;
      case 'set-aside':
        await moveLatestAway(context, latest, signal);
        log.warn(
          { release, annotation: `meta.helm.sh/release-name=${release}` },
          'objects that only the unreadable revision listed may remain: find them by this annotation and delete them',
        );
        // Older revisions are ours too, because the release was adopted.
        isForced = true;
        continue;
      case 'uninstall':
    }
    await around(context, latest, options, signal);
    return 'uninstalled';
  }
  throw unreadableError(release);
}

async function around(
  context: DriverContext,
  latest: ReleaseRevision,
  { steps, span }: UninstallOptions,
  signal: AbortSignal,
): Promise<void> {
  const { store, readYaml } = context;
  const { ours, unclear } = await findLeftovers(context, latest, signal);
  // The records are deleted last: an interrupted uninstall finds all objects again.
  const uninstall = async (kept: readonly KubeObject[]): Promise<void> => {
    const leftovers = ours.filter(({ object }) => !kept.includes(object));
    const refused = await deleteLeftovers(context, leftovers, signal);
    reportLeftovers(context, latest.release, leftovers, [...unclear, ...refused]);
    await runUninstall(context, latest, span, signal);
  };
  if (steps === undefined) return await uninstall([]);
  const { manifest } = await store.payload(latest, signal);
  await steps.around(
    [...manifestObjects(manifest, readYaml), ...ours.map(({ object }) => object)],
    async (kept) => {
      // helm deletes the objects in the record and no others, so kept objects are removed from it.
      if (kept.length > 0)
        await store.setManifest(latest, await withoutObjects(manifest, readYaml, kept), signal);
      await uninstall(kept);
    },
    signal,
  );
}

function reportLeftovers(
  { log, reports }: DriverContext,
  release: string,
  deleted: readonly Leftover[],
  left: readonly string[],
): void {
  if (deleted.length > 0)
    log.info(
      { release, objects: deleted.map(({ identity }) => objectTitle(identity)) },
      'objects that only earlier revisions of the release list are deleted',
    );
  if (left.length === 0) return;
  log.warn({ release, objects: left }, 'objects of earlier revisions of the release are left behind');
  reports.onLeftBehind(release, left);
}

async function runUninstall(
  context: DriverContext,
  latest: ReleaseRevision,
  parent: Span | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { store, namespace, kubeContext, timeoutMs } = context;
  const { release, revision } = latest;
  // The check below must not use a discovery that is older than the kinds of the release.
  context.discovery.invalidate();
  await repairKinds(context, latest, signal);
  // Noted before helm starts: if this process dies, others know that its helm was working on the
  // release.
  await store.setMetadata(release, revision, { labels: labelsAtUninstall(context.holder.token) }, signal);
  const args = uninstallArguments({ release, namespace, kubeContext, timeoutMs });
  const run = { args, timeoutMs: processLimitMs(timeoutMs), readError: uninstallError };
  const runWithin = (): Promise<HelmOutcome> =>
    tracedHelm({ parent, release }, 'uninstall', (span) => runHelm(context, { ...run, span }, signal));
  const outcome = await context.prepared.run(release, runWithin, signal);
  // Only the record shows whether helm has finished: its exit code may be that of a late error.
  const left = await store.latest(release, signal);
  if (left === undefined || left.status === 'uninstalled') return;
  const reason =
    outcome.type === 'failed' ? withAdvice(outcome.error) : `helm left record "${left.recordName}" behind`;
  throw new OperatorError('HELM_FAILED', `Cannot uninstall release "${release}": ${reason}`);
}

/**
 * The reason of a failed deletion, as helm 3 and helm 4 log it with `--debug`. Without it they only
 * report a failure.
 */
const REASON = /uninstall: Failed to delete release(?:: ([\s\S]*?)\n(?=Error: )|" error=(.*))/;
/** The stack trace that helm 3 adds with `--debug`. */
const STACK = /^helm\.go:\d+: [\s\S]*$/m;

/** The error that `helm uninstall --debug` wrote to stderr, with its reason. */
export function uninstallError(stderr: string): string {
  const error = helmError(stderr.replace(STACK, ''));
  const [, plain, quoted] = REASON.exec(stderr) ?? [];
  const reason = plain ?? (quoted === undefined ? undefined : unquoted(quoted));
  return reason === undefined ? error : `${error}: ${reason.replace(/^\[([\s\S]*)\]$/, '$1')}`;
}

function unquoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
