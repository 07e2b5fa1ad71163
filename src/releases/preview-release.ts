import { isFirstInstallPending } from '@addon-operator/helm/first-install';
import type { ManifestObject } from '@addon-operator/helm/manifest-object';
import { readMetadata } from '@addon-operator/helm/object-lookup';
import { firstAbsent } from '@addon-operator/helm/object-presence';
import { ownFacts } from '@addon-operator/helm/record-metadata';
import type { ReleaseRevision } from '@addon-operator/helm/release-store';
import { type ChartInputs, desiredRelease, readChartState } from './chart-state.ts';
import { type DriverContext, lookupOptions } from './driver-context.ts';
import { lockedError, observeRelease, releaseState, storedObjects } from './recover.ts';
import { nextReleaseAction } from './release-action.ts';

/**
 * The action that a deployment would take. `compare`: helm renders, and applies only if the result
 * differs from `manifest`. `manifest` holds the objects of the newest readable revision, as YAML;
 * `causes` are phrases for people.
 */
export type ReleasePreview =
  | { readonly type: 'keep' }
  | { readonly type: 'install' }
  | { readonly type: 'compare'; readonly manifest: string }
  | { readonly type: 'upgrade'; readonly manifest: string; readonly causes: readonly string[] };

/**
 * Decides about a release like a deployment, and changes nothing. If a deployment would first wait
 * for another helm, this is its action after the wait.
 *
 * @throws OperatorError HELM_LOCKED while another daemon uses the release, MODULE_INVALID when the
 *   module is no chart
 */
export async function previewRelease(
  context: DriverContext,
  inputs: ChartInputs,
  signal: AbortSignal,
): Promise<ReleasePreview> {
  const desired = desiredRelease(context, await readChartState(context, inputs, signal));
  const release = inputs.module.name;
  let latest = await context.store.latest(release, signal);
  const unreadable: string[] = [];
  for (;;) {
    const state = await releaseState(context.store, latest, signal);
    const observed = observeRelease(context, latest);
    // The wait for a lock is skipped: the preview shows what happens after it.
    const outwaited = { ...observed, state, unchangedMs: Number.POSITIVE_INFINITY };
    const action = nextReleaseAction(outwaited, desired);
    if (action.type === 'install' || latest === undefined) return { type: 'install' };
    if (action.type === 'locked') throw lockedError(release, state, observed.own, context.timeoutMs);
    if (action.type === 'set-aside') {
      // A deployment would move the record aside; the preview looks behind it instead.
      unreadable.push(`the record of revision ${latest.revision} cannot be read`);
      latest = await context.store.before(latest, signal);
      continue;
    }
    // After moving records aside a deployment does not know either whether anything was deployed
    // before.
    if (action.type === 'upgrade' && unreadable.length === 0) {
      if (await isFirstInstallPending(context.store, release, signal)) return { type: 'install' };
    }
    const cause =
      action.type === 'upgrade'
        ? upgradeCause(latest, action.repair)
        : await restoreCause(context, latest, action.type, signal);
    const causes = cause === undefined ? unreadable : [...unreadable, cause];
    if (causes.length === 0 && action.type === 'keep') return { type: 'keep' };
    const { manifest } = await context.store.payload(latest, signal);
    return causes.length === 0 ? { type: 'compare', manifest } : { type: 'upgrade', manifest, causes };
  }
}

function upgradeCause({ revision, status }: ReleaseRevision, isLeft: boolean): string {
  if (isLeft) return `revision ${revision} was left ${status}`;
  return status === 'deployed'
    ? `revision ${revision} was not created by this operator`
    : `revision ${revision} is ${status}`;
}

/** Why an unchanged release of this operator would be upgraded; undefined if it would not be. */
async function restoreCause(
  context: DriverContext,
  latest: ReleaseRevision,
  action: 'keep' | 'compare',
  signal: AbortSignal,
): Promise<string | undefined> {
  const { checksum } = ownFacts(latest.labels, latest.revision);
  if (action === 'compare' && checksum === undefined)
    return `the rendered manifests of revision ${latest.revision} are not recorded`;
  const objects = await storedObjects(context, latest, signal);
  const lookup = lookupOptions(context);
  const absent = await firstAbsent(objects, context.extraLabels, lookup, signal);
  if (absent === undefined) return undefined;
  const isThere = (await readMetadata(absent, lookup, signal)) !== undefined;
  return `the ${titleOf(absent)} ${isThere ? 'lacks labels of its release' : 'is missing'}`;
}

function titleOf({ kind, namespace, name }: ManifestObject): string {
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}
