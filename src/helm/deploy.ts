import { OperatorError } from '../lib/errors.ts';
import type { ChartTraits } from './chart-functions.ts';
import { type ChartKind, chartKind, readChartFiles } from './chart-source.ts';
import { type ChartModule, type DriverContext, lookupOptions } from './driver-context.ts';
import { inputDigest, traitsOf } from './input-digest.ts';
import { parseManifest } from './manifest-document.ts';
import { type ManifestObject, objectTitle, releaseObjects } from './manifest-object.ts';
import { firstAbsent } from './object-presence.ts';
import { isProcessAlive } from './process-alive.ts';
import { nextReleaseAction, type ObservedRelease } from './release-action.ts';
import { isOwned, labelsWhenDeployed, ownFacts } from './release-labels.ts';
import { isLockAlive } from './release-lock.ts';
import type { ReleaseRevision } from './release-store.ts';
import { upgradeRelease } from './upgrade.ts';

export interface DeployRequest {
  readonly module: ChartModule;
  /** Plain JSON: what `.Values` gets on top of the chart's own defaults. */
  readonly values: Readonly<Record<string, unknown>>;
}

export interface DeployResult {
  readonly action: 'installed' | 'upgraded' | 'skipped';
  /** Why, in words for a log. */
  readonly reason: string;
  readonly revision: number;
  /** What the release consists of now. */
  readonly objects: readonly ManifestObject[];
}

type Attempt =
  | { readonly type: 'done'; readonly result: DeployResult }
  | { readonly type: 'failed'; readonly error: string };

/**
 * Brings the release of a chart module to what chart and values say, by one helm process at most; without any when
 * nothing can have changed. A failing helm is given one more try at once, with the API discovery read anew.
 *
 * @throws OperatorError HELM_FAILED, HELM_LOCKED while somebody else works on the release, HELM_RELEASE_CORRUPT,
 * MODULE_INVALID; on abort helm is told to stop, waited for, and `signal.reason` thrown
 */
export async function deployRelease(
  context: DriverContext,
  request: DeployRequest,
  signal: AbortSignal,
): Promise<DeployResult> {
  const release = request.module.name;
  const first = await attempt(context, request, signal);
  if (first.type === 'done') return first.result;
  context.log.warn({ release, error: first.error }, 'helm failed, trying once more');
  context.discovery.invalidate();
  const second = await attempt(context, request, signal);
  if (second.type === 'done') return second.result;
  throw new OperatorError('HELM_FAILED', `Cannot deploy release "${release}": ${second.error}`);
}

async function attempt(
  context: DriverContext,
  request: DeployRequest,
  signal: AbortSignal,
): Promise<Attempt> {
  const startedAtMs = context.clock.now();
  const { module } = request;
  const [chart, latest] = await Promise.all([
    readChart(context, request, signal),
    context.store.latest(module.name, signal),
  ]);
  context.notices.onChart(module.name, chart.traits);
  if (latest !== undefined && !isOwned(latest.labels)) context.notices.onAdoption(module.name);
  const observed = observe(context, latest);
  const action = nextReleaseAction(observed, {
    inputDigest: chart.inputDigest,
    readsOutside: chart.traits.outsideFunctions.length > 0,
  });
  const objects = latest === undefined ? [] : await storedObjects(context, latest, signal);
  const upgrade = async (reason: string, skipIfChecksum?: string): Promise<Attempt> => {
    const outcome = await upgradeRelease(
      context,
      {
        module,
        chartKind: chart.kind,
        values: request.values,
        inputDigest: chart.inputDigest,
        lastRevision: latest?.revision ?? 0,
        ownObjects: latest?.status === 'deployed' ? objects : [],
        skipIfChecksum,
      },
      signal,
    );
    switch (outcome.type) {
      case 'failed':
        return outcome;
      case 'applied': {
        const done = latest === undefined ? 'installed' : 'upgraded';
        return {
          type: 'done',
          result: { action: done, reason, revision: outcome.revision, objects: outcome.objects },
        };
      }
      case 'unchanged':
        await rememberDigest(context, latest, chart.inputDigest, signal);
        return skipped('it renders to what is deployed', latest, outcome.objects);
    }
  };
  switch (action.type) {
    case 'install':
      return await upgrade('there is no release');
    case 'locked':
      throw new OperatorError(
        'HELM_LOCKED',
        `Release "${module.name}" is ${action.status}: another helm works on it. It is tried again, and taken over once helm's time-out has passed.`,
      );
    case 'upgrade':
      if (action.repair && latest !== undefined) await repair(context, latest, signal);
      return await upgrade(action.reason);
    case 'compare':
      return await upgrade(action.reason, latest && ownFacts(latest.labels, latest.revision).checksum);
    case 'keep': {
      const absent = await firstAbsent(objects, context.extraLabels, lookupOptions(context), signal);
      const durationMs = context.clock.now() - startedAtMs;
      context.onOperation({ module: module.name, operation: 'check-upgrade', durationMs });
      if (absent === undefined) return skipped('nothing changed', latest, objects);
      return await upgrade(`${objectTitle(absent)} is missing`);
    }
  }
}

interface ChartState {
  readonly kind: ChartKind;
  readonly traits: ChartTraits;
  readonly inputDigest: string;
}

async function readChart(
  context: DriverContext,
  { module, values }: DeployRequest,
  signal: AbortSignal,
): Promise<ChartState> {
  const kind = chartKind(module.path);
  if (kind === undefined) {
    throw new OperatorError(
      'MODULE_INVALID',
      `Module "${module.name}" is no chart: it has neither Chart.yaml nor templates/`,
    );
  }
  const files = await readChartFiles(module.path, kind);
  const traits = traitsOf(files, values);
  const digest = inputDigest({
    release: module.name,
    namespace: context.namespace,
    helmVersion: context.helm.version,
    files,
    values,
    extraLabels: context.extraLabels,
    capabilities: traits.usesCapabilities ? await capabilities(context, signal) : [],
  });
  return { kind, traits, inputDigest: digest };
}

async function capabilities({ discovery }: DriverContext, signal: AbortSignal): Promise<readonly string[]> {
  const { gitVersion } = await discovery.serverVersion(signal);
  return [gitVersion, ...(await discovery.apiVersions(signal))];
}

function observe(context: DriverContext, latest: ReleaseRevision | undefined): ObservedRelease {
  if (latest === undefined) return { type: 'absent' };
  const { inputDigest, holder } = ownFacts(latest.labels, latest.revision);
  const pending = {
    holder,
    sinceMs: latest.createdAtMs,
    nowMs: context.clock.now(),
    helmTimeoutMs: context.timeoutMs,
  };
  const isLocked = isLockAlive(pending, context.holder, isProcessAlive);
  return { type: 'present', status: latest.status, inputDigest, isLocked };
}

/** Reads the record even when only its labels count now: a corrupt one must be named before helm stumbles over it. */
async function storedObjects(
  context: DriverContext,
  latest: ReleaseRevision,
  signal: AbortSignal,
): Promise<ManifestObject[]> {
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

async function repair(context: DriverContext, latest: ReleaseRevision, signal: AbortSignal): Promise<void> {
  context.log.warn(
    { release: latest.release, revision: latest.revision, status: latest.status },
    'release was left unfinished: marking its last revision failed',
  );
  await context.store.markFailed(latest, context.clock.now(), signal);
}

async function rememberDigest(
  context: DriverContext,
  latest: ReleaseRevision | undefined,
  digest: string,
  signal: AbortSignal,
): Promise<void> {
  if (latest === undefined) return;
  const { checksum, inputDigest: remembered } = ownFacts(latest.labels, latest.revision);
  if (checksum === undefined || remembered === digest) return;
  const labels = labelsWhenDeployed({ revision: latest.revision, inputDigest: digest, checksum });
  await context.store.setLabels(latest.release, latest.revision, labels, signal);
}

function skipped(
  reason: string,
  latest: ReleaseRevision | undefined,
  objects: readonly ManifestObject[],
): Attempt {
  return { type: 'done', result: { action: 'skipped', reason, revision: latest?.revision ?? 0, objects } };
}
