// Deploys releases. The operator calls `deployRelease` through the driver for each module run; most
// calls end without helm, because digest and objects show that nothing has changed. Otherwise the
// newest record decides (`release-action.ts`), helm renders and is stopped before it applies
// (`upgrade.ts`), and a failure is retried once. What can go wrong: records that helm cannot read,
// locks of other clients, objects of other releases, kinds that are no longer served.

import { OperatorError } from '@addon-operator/base/errors';
import type { Span } from '@addon-operator/base/trace';
import { mayDifferByItself } from '@addon-operator/helm/chart-functions';
import { dropOldestFailures, isFirstInstallPending } from '@addon-operator/helm/first-install';
import { type ManifestObject, objectTitle } from '@addon-operator/helm/manifest-object';
import { firstAbsent } from '@addon-operator/helm/object-presence';
import {
  DIGEST_LABEL,
  isOwned,
  metadataWhenDeployed,
  ownFacts,
  saysUnmanaged,
  UNMANAGED_LABEL,
} from '@addon-operator/helm/record-metadata';
import type { ReleaseRevision } from '@addon-operator/helm/release-store';
import { type ChartState, desiredRelease, readChartState } from './chart-state.ts';
import type { ConflictPolicy } from './conflicts.ts';
import type { DriftPolicy } from './drift/drift-policy.ts';
import { type ChartModule, type DriverContext, lookupOptions } from './driver-context.ts';
import type { DeployedSource } from './record-source.ts';
import {
  lockedError,
  MAX_SET_ASIDE,
  moveLatestAway,
  observeRelease,
  releaseState,
  removeObstacles,
  storedObjects,
  unreadableError,
} from './recover.ts';
import { nextReleaseAction, type ReleaseAction } from './release-action.ts';
import type { ReleaseSteps } from './release-steps.ts';
import { type DeployedRendering, type FailedUpgrade, UNCHANGED, upgradeRelease } from './upgrade.ts';

export interface DeployRequest {
  readonly module: ChartModule;
  /** Plain JSON: `.Values` on top of the chart's own defaults. */
  readonly values: Readonly<Record<string, unknown>>;
  /**
   * Whether cached reads for other modules, a few seconds old, may decide that nothing has to be
   * done. Not after a hook of this module has run, which may have deleted objects. Default false.
   */
  readonly mayShareReads?: boolean;
  /**
   * Whether the release is skipped once it is labelled as unmanaged: see {@link deployRelease}.
   * Default false.
   */
  readonly isUnmanaged?: boolean;
  /**
   * Whether helm applies the chart although nothing has changed, so that changes by other clients
   * are reverted. Default false.
   */
  readonly isForced?: boolean;
  /** Reaction to drift of the objects of the release; default: the settings. */
  readonly drift?: DriftPolicy;
  /** Policy for fields of other field managers; default: they are overwritten. */
  readonly conflicts?: ConflictPolicy;
  /** Steps of other rooms during the deployment; default: none. */
  readonly steps?: ReleaseSteps | undefined;
  /**
   * Stored with the record of a revision that is deployed with these values, see {@link
   * notedReleases}; default: nothing.
   */
  readonly note?: string;
  /** Recorded with the revision; default: nothing. */
  readonly source?: DeployedSource | undefined;
  /** Called when helm begins to apply, if it does; must not throw. */
  readonly onApply?: () => void;
  /** Parent of the spans; default: nothing is traced. */
  readonly span?: Span | undefined;
}

export interface DeployResult {
  readonly action: 'installed' | 'upgraded' | 'skipped';
  /** The reason, in words for a log. */
  readonly reason: string;
  readonly revision: number;
  /** The digest of chart and values; undefined for a release that other clients made. */
  readonly digest: string | undefined;
  /** The objects of the release. */
  readonly objects: readonly ManifestObject[];
}

type Attempt = { readonly type: 'done'; readonly result: DeployResult } | FailedUpgrade;

/**
 * Deploys the release of a chart module from chart and values, with one helm process at most, and
 * none if nothing can have changed. A failed helm is retried once at once, with fresh API
 * discovery, unless the steps forbid it or it used up its time limit. An unmanaged release is
 * deployed once more, so that its record and objects are labelled, and then skipped.
 *
 * @throws OperatorError HELM_FAILED, HELM_LOCKED while another client uses the release,
 *   HELM_RELEASE_CORRUPT, MODULE_INVALID; errors of the steps; on abort helm is stopped and
 *   awaited, and `signal.reason` is thrown
 */
export async function deployRelease(
  general: DriverContext,
  request: DeployRequest,
  signal: AbortSignal,
): Promise<DeployResult> {
  const release = request.module.name;
  const context = request.isUnmanaged === true ? unmanaged(general) : general;
  const left = request.isUnmanaged === true ? await skipUnmanaged(context, request, signal) : undefined;
  if (left !== undefined) return left;
  const chart = await readChartState(context, request, signal);
  context.notices.onChart(release, chart.traits);
  context.notices.onValues(release, request.values);
  // The cheap way first: reads for all modules at once.
  if (request.mayShareReads === true) {
    const kept = await keepUnchanged(context, request, chart, signal);
    if (kept !== undefined) return kept;
  }
  context.sharedReads.forgetRelease(release);
  const first = await attempt(context, request, chart, signal);
  if (first.type === 'done') return first.result;
  const failure = await failureOf(request, first.error, signal);
  if (failure.isPermanent) throw failure;
  // Kinds of a CRD that was just installed may be unknown to the cached discovery.
  context.discovery.invalidate();
  await removeObstacles(context, release, signal);
  // After a time-out another attempt would take as long again: the back-off of the queue comes
  // first.
  if (request.steps?.isTriedOnce === true || first.isTimedOut) throw failure;
  context.log.warn({ release, error: first.error }, 'helm failed, retrying once');
  const second = await attempt(context, request, await readChartState(context, request, signal), signal);
  if (second.type === 'done') return second.result;
  throw await failureOf(request, second.error, signal);
}

async function failureOf(
  { module, steps }: DeployRequest,
  message: string,
  signal: AbortSignal,
): Promise<OperatorError> {
  const error = new OperatorError('HELM_FAILED', `Cannot deploy release "${module.name}": ${message}`);
  return (await steps?.onFailure?.(error, signal)) ?? error;
}

/** The driver for a module in maintenance, whose objects are labelled accordingly. */
export function unmanaged(context: DriverContext): DriverContext {
  return { ...context, extraLabels: { ...context.extraLabels, [UNMANAGED_LABEL]: '' } };
}

/** Skips a release that is labelled as unmanaged; undefined for others. */
async function skipUnmanaged(
  context: DriverContext,
  request: DeployRequest,
  signal: AbortSignal,
): Promise<DeployResult | undefined> {
  const startedAtMs = context.clock.steadyMs();
  const release = request.module.name;
  const latest = await context.store.latest(release, signal);
  if (latest?.status !== 'deployed' || !saysUnmanaged(latest.labels, latest.revision)) return undefined;
  context.log.info({ release }, 'helm release is Unmanaged, skip helm upgrade');
  const result = skipped('the release is unmanaged', latest, latest.objects ?? []);
  traceCheck(request, startedAtMs, result);
  return result;
}

/** Skips a release by cached reads; undefined when they do not suffice. */
async function keepUnchanged(
  context: DriverContext,
  request: DeployRequest,
  chart: ChartState,
  signal: AbortSignal,
): Promise<DeployResult | undefined> {
  const { module } = request;
  const startedAtMs = context.clock.steadyMs();
  const isKept = (revision: ReleaseRevision | undefined): boolean =>
    nextReleaseAction(observeRelease(context, revision), desiredRelease(context, chart)).type === 'keep';
  // For a release that has to change, another list request would show nothing new.
  if (!isKept(context.store.known(module.name))) return undefined;
  const readAll = (): Promise<readonly ReleaseRevision[]> => context.store.latestOfAll(signal);
  const latest = await context.sharedReads.currentRelease(module.name, readAll, signal);
  if (latest?.objects === undefined || !isKept(latest)) return undefined;
  // The digest says nothing about objects that another client deleted.
  const lookup = { ...lookupOptions(context), lists: context.sharedReads };
  const absent = await firstAbsent(latest.objects, context.extraLabels, lookup, signal);
  if (absent !== undefined) return undefined;
  endCheck(context, module.name, startedAtMs);
  const result = skipped('nothing changed', latest, latest.objects);
  traceCheck(request, startedAtMs, result);
  return result;
}

/**
 * Decides by the newest record of the release, and carries out the action. An unreadable record is
 * moved aside, and the one before it decides.
 */
async function attempt(
  context: DriverContext,
  request: DeployRequest,
  chart: ChartState,
  signal: AbortSignal,
): Promise<Attempt> {
  const { name } = request.module;
  for (let moved = 0; moved < MAX_SET_ASIDE; moved += 1) {
    const startedAtMs = context.clock.steadyMs();
    const latest = await context.store.latest(name, signal);
    const state = await releaseState(context.store, latest, signal);
    const observed = observeRelease(context, latest);
    // The real state, which includes whether the record can be read: helm fails at one that it
    // cannot read.
    const action = nextReleaseAction({ ...observed, state }, desiredRelease(context, chart));
    if (action.type === 'locked') throw lockedError(name, state, observed.own, context.timeoutMs);
    if (action.type !== 'set-aside')
      return await carryOut(context, request, { action, chart, latest, startedAtMs }, signal);
    if (latest !== undefined) await moveLatestAway(context, latest, signal);
  }
  throw unreadableError(name);
}

interface Decision {
  readonly action: Exclude<ReleaseAction, { readonly type: 'locked' | 'set-aside' }>;
  readonly chart: ChartState;
  readonly latest: ReleaseRevision | undefined;
  readonly startedAtMs: number;
}

async function carryOut(
  context: DriverContext,
  request: DeployRequest,
  { action, chart, latest, startedAtMs }: Decision,
  signal: AbortSignal,
): Promise<Attempt> {
  const { module } = request;
  switch (action.type) {
    case 'install':
      return await upgrade(
        context,
        request,
        { chart, latest, reason: 'there is no release', isInstalled: true },
        signal,
      );
    case 'upgrade':
      if (action.repair && latest !== undefined) await repair(context, latest, signal);
      return await upgradeOrInstall(context, request, { chart, latest, reason: action.reason }, signal);
    case 'compare': {
      const skipIf = latest && deployedRendering(context, latest, chart);
      return await upgrade(context, request, { chart, latest, reason: action.reason, skipIf }, signal);
    }
    case 'keep': {
      const objects = await storedObjects(context, latest, signal);
      const absent = await firstAbsent(objects, context.extraLabels, lookupOptions(context), signal);
      endCheck(context, module.name, startedAtMs);
      if (absent === undefined) {
        const result = skipped('nothing changed', latest, objects);
        traceCheck(request, startedAtMs, result);
        return { type: 'done', result };
      }
      const reason = `${objectTitle(absent)} is missing`;
      return await upgrade(context, request, { chart, latest, reason }, signal);
    }
  }
}

/**
 * Upgrades, unless the first install of the release has not succeeded yet: that is tried again as an
 * install.
 */
async function upgradeOrInstall(
  context: DriverContext,
  request: DeployRequest,
  plan: UpgradePlan,
  signal: AbortSignal,
): Promise<Attempt> {
  const { store, historyMax } = context;
  const { name } = request.module;
  const isFirst = plan.latest?.status !== 'deployed' && (await isFirstInstallPending(store, name, signal));
  if (!isFirst) return await upgrade(context, request, plan, signal);
  // `helm install` prunes no history, so each failed try would leave a record for ever.
  await dropOldestFailures(store, name, historyMax, signal);
  return await upgrade(context, request, { ...plan, isInstalled: true }, signal);
}

interface UpgradePlan {
  readonly chart: ChartState;
  readonly latest: ReleaseRevision | undefined;
  readonly reason: string;
  // Whether helm installs; default false: it upgrades.
  /** Default false. */
  readonly isInstalled?: boolean;
  readonly skipIf?: DeployedRendering | undefined;
}

function deployedRendering(
  { store }: DriverContext,
  latest: ReleaseRevision,
  { inputDigest: digest, traits }: ChartState,
): DeployedRendering {
  const { checksum, inputDigest } = ownFacts(latest.labels, latest.revision);
  const readManifest = async (signal: AbortSignal): Promise<string> =>
    (await store.payload(latest, signal)).manifest;
  // Only a chart that renders differently each time needs the comparison with the stored manifest.
  const maySuffice = inputDigest === digest && mayDifferByItself(traits);
  return { checksum, readManifest: maySuffice ? readManifest : undefined };
}

async function upgrade(
  context: DriverContext,
  { module, values, conflicts = 'overwrite', steps, note, onApply, span }: DeployRequest,
  { chart, latest, reason, isInstalled = false, skipIf }: UpgradePlan,
  signal: AbortSignal,
): Promise<Attempt> {
  if (latest !== undefined && !isOwned(latest.labels)) context.notices.onAdoption(module.name);
  const ownObjects = latest?.status === 'deployed' ? await storedObjects(context, latest, signal) : [];
  const { contents, inputDigest: digest } = chart;
  const lastRevision = latest?.revision ?? 0;
  const outcome = await upgradeRelease(
    context,
    {
      module,
      chart: contents,
      values,
      inputDigest: digest,
      lastRevision,
      isInstalled,
      ownObjects,
      skipIf,
      conflicts,
      steps,
      note,
      onApply,
      span,
      deployedObjects: steps === undefined ? [] : await deployedObjects(context, latest, signal),
    },
    signal,
  );
  switch (outcome.type) {
    case 'failed':
      return outcome;
    case 'applied': {
      const { revision, objects } = outcome;
      const action = isInstalled ? 'installed' : 'upgraded';
      return { type: 'done', result: { action, reason, revision, digest, objects } };
    }
    case 'unchanged':
      // The inputs changed but the result did not: with the new digest the next run needs no
      // rendering.
      await rememberDigest(context, latest, digest, outcome.objects, signal);
      return {
        type: 'done',
        result: {
          ...skipped(UNCHANGED, latest, outcome.objects),
          digest,
        },
      };
  }
}

function endCheck({ clock, reports }: DriverContext, module: string, startedAtMs: number): void {
  reports.onOperation({ module, operation: 'check-upgrade', durationMs: clock.steadyMs() - startedAtMs });
}

/** Records the span of a deployment without helm. */
function traceCheck(
  { module, span }: DeployRequest,
  startMs: number,
  { reason, revision, digest }: DeployResult,
): void {
  const attributes = {
    'addon_operator.helm.release': module.name,
    'addon_operator.helm.revision': revision,
    'addon_operator.helm.chart_digest': digest,
    'addon_operator.helm.skipped_reason': reason,
  };
  span?.child({ name: 'helm check', startMs, attributes }).end();
}

/** The objects of the last revision that was deployed, even if later ones failed. */
async function deployedObjects(
  context: DriverContext,
  latest: ReleaseRevision | undefined,
  signal: AbortSignal,
): Promise<readonly ManifestObject[]> {
  if (latest === undefined || latest.status === 'deployed')
    return await storedObjects(context, latest, signal);
  return await storedObjects(context, await context.store.lastDeployed(latest.release, signal), signal);
}

async function repair(context: DriverContext, latest: ReleaseRevision, signal: AbortSignal): Promise<void> {
  context.log.warn(
    { release: latest.release, revision: latest.revision, status: latest.status },
    'release was left unfinished: marking its last revision as failed',
  );
  await context.store.markFailed(latest, context.clock.wallMs(), signal);
}

async function rememberDigest(
  context: DriverContext,
  latest: ReleaseRevision | undefined,
  inputDigest: string,
  objects: readonly ManifestObject[],
  signal: AbortSignal,
): Promise<void> {
  if (latest === undefined) return;
  const { checksum } = ownFacts(latest.labels, latest.revision);
  // Without our checksum, another client made the revision: our digest on it would be false.
  if (checksum === undefined) return;
  const metadata = metadataWhenDeployed({ revision: latest.revision, inputDigest, checksum }, objects);
  if (metadata.labels[DIGEST_LABEL] === latest.labels[DIGEST_LABEL] && latest.objects !== undefined) return;
  await context.store.setMetadata(latest.release, latest.revision, metadata, signal);
}

function skipped(
  reason: string,
  latest: ReleaseRevision | undefined,
  objects: readonly ManifestObject[],
): DeployResult {
  const revision = latest?.revision ?? 0;
  const digest = latest && ownFacts(latest.labels, revision).inputDigest;
  return { action: 'skipped', reason, revision, digest, objects };
}
