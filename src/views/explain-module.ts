// The explanation of modules: status, causes, what they wait for. `operator-view.ts` calls it for
// requests, `collect-module-facts.ts` for Module objects. A description of many modules reads the
// queues and the common obstacles once and passes them on. Nothing here decides: `status/causes`
// derives the causes from these facts.

import { wallTimeOf } from '@addon-operator/base/clock';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { oneLine } from '@addon-operator/strings/escape-controls';
import { failedPartOf, sourceFile } from '../model/hook-file.ts';
import { type Place, type PlacesByModule, placesByModule } from '../model/module-places.ts';
import { CONFIRM_COMMAND, heldPurgeText } from '../model/purge-guard.ts';
import type { ReleaseInCluster } from '../model/releases.ts';
import { shownRun } from '../model/run-history.ts';
import type { ModulePart, TrackedModule } from '../model/tracked-module.ts';
import type { Module } from '../modules/module.ts';
import { unmetOf } from '../modules/requirements.ts';
import { staleBindings, unfilteredObjects } from '../queues/binding-problems.ts';
import { isIsolated } from '../queues/isolation.ts';
import { unfinishedRuns } from '../queues/unfinished-runs.ts';
import { causesOf, firstCauseOf, NO_OBSTACLES, type Obstacles } from '../status/module-causes.ts';
import type {
  ModuleExplanation,
  ModuleFailure,
  ModulePause,
  ModuleStatus,
  ModuleSummary,
  Wait,
} from '../status/module-explanation.ts';
import { modulePhase } from '../status/module-phase.ts';
import { failedRunText } from '../status/unfinished-text.ts';
import type { ModuleName } from '../values/module-key.ts';
import { type CommonObstacles, commonObstacles, obstaclesOf } from './collect-obstacles.ts';
import { driftOf } from './explain-drift.ts';
import { failedScriptOf, heldBy, isHeldUp } from './explain-held.ts';
import { deliveryOf, updateOf } from './explain-update.ts';
import { commonWaits, nextAttemptMs, waitsOf } from './explain-waits.ts';
import type { Explained } from './explained.ts';
import { saidByAuthor } from './said-by-author.ts';

/** The length of errors in a list of all modules, many of which may wait for the same task. */
const MAX_LISTED_ERROR = 300;

/** Summaries of all modules, in run order. */
export function summarizeModules(operator: Explained): readonly ModuleSummary[] {
  return [...summarizeStates(operator, moduleStates(operator)), ...heldSummaries(operator)];
}

/** The state of a module, for lists and for the choice of what they show. */
export interface ExplainedState extends Decision {
  readonly module: Module;
  readonly status: ModuleStatus;
  /** Since when, on the wall clock. */
  readonly sinceMs: number;
  readonly paused: ModulePause | null;
  readonly places: readonly Place[];
  /** The queued tasks of all modules. */
  readonly queued: PlacesByModule;
}

/** The states of all modules, in run order. */
export function moduleStates(operator: Explained): readonly ExplainedState[] {
  const queued = placesByModule(operator);
  const obstacles = commonObstacles(operator);
  return operator.registry.modules.map((module) => {
    const { name } = module;
    const places = queued.get(name) ?? [];
    const status = shownStatusOf(operator, name, places, obstacles);
    return {
      module,
      status,
      sinceMs: sinceMsOf(operator, name, status, places),
      ...decisionOf(operator, name),
      paused: pauseOf(operator, name),
      places,
      queued,
    };
  });
}

/** Summaries of modules in these states. */
export function summarizeStates(
  operator: Explained,
  states: readonly ExplainedState[],
): readonly ModuleSummary[] {
  const common = commonWaits(operator, MAX_LISTED_ERROR);
  const obstacles = commonObstacles(operator);
  return states.map(
    ({ module, status, sinceMs, isEnabled, source, reason, paused: pause, places, queued }) => {
      const { name, path } = module;
      const failure = failureOf(operator, name, places);
      const waits = waitsOf(operator, name, places, common);
      const summary = {
        module: name,
        status,
        since: isoTime(sinceMs),
        isEnabled,
        source,
        reason,
        version: module.version ?? null,
        revision: operator.registry.tracked.get(name)?.release.deployed?.revision ?? null,
        waitsFor: waits.map(({ text }) => text),
        lastError: failure?.error ?? null,
        nextTryAt: failure?.nextAttemptAt ?? null,
        paused: pause && pauseSummary(pause),
      };
      const facts = {
        ...summary,
        failure,
        pause,
        // The source is what the author knows; an authorized module runs from a copy.
        path: module.source ?? path,
        nextReconcileAt: timeOrNull(operator.router.requeues.dueMs(name)),
        drift: driftOf(operator, name),
        requires: requirementsOf(operator, module, queued, obstacles),
        step: stepOf(operator, name),
        ...heldBy(operator, status, name),
      };
      const cause = firstCauseOf(facts, obstaclesOf(operator, name, places, obstacles));
      const update = updateOf(operator, name);
      if (cause === undefined) return { ...summary, ...update, ...queueInFront(waits, places) };
      const heldUpBy = status === 'held' ? `${cause.text}; ${cause.remedy}` : cause.text;
      return {
        ...summary,
        ...update,
        heldUpBy,
        ...(cause.ref !== null && { heldUpRef: cause.ref }),
        // What is held has it in its sentence already.
        ...(cause.remedy !== null && status !== 'held' && { remedy: cause.remedy }),
      };
    },
  );
}

/** The queue in which other tasks are the nearest thing that a module waits for. */
function queueInFront(
  [nearest]: readonly Wait[],
  places: readonly Place[],
): Pick<ModuleSummary, 'heldUpRef'> {
  const place = nearest?.type === 'queue' ? places.find(({ index }) => index > 0) : undefined;
  return place === undefined ? {} : { heldUpRef: `queue/${place.queue.name}` };
}

/** Summaries of modules whose directories are gone and whose releases are held. */
export function heldSummaries(operator: Explained): readonly ModuleSummary[] {
  return heldExplanations(operator, []).map((explanation) => ({
    ...explanation,
    heldUpBy: explanation.reason,
    revision: null,
    lastError: null,
    nextTryAt: null,
    paused: null,
  }));
}

/** The status of every module. */
export function moduleStatuses(operator: Explained): ReadonlyMap<string, ModuleStatus> {
  return new Map(moduleStates(operator).map(({ module, status }) => [module.name, status]));
}

/**
 * The explanation of a module.
 *
 * @param releases those in the cluster
 * @param queued the queued tasks; a caller that explains many modules reads them once
 * @param common obstacles of all modules, likewise
 */
export function explainModule(
  operator: Explained,
  module: Module,
  releases: readonly ReleaseInCluster[],
  queued: PlacesByModule = placesByModule(operator),
  common: CommonObstacles = commonObstacles(operator),
): ModuleExplanation {
  const facts = factsOf(operator, module, releases, queued, common);
  const obstacles = obstaclesOf(operator, module.name, queued.get(module.name) ?? [], common);
  const explained = withCauses(facts, obstacles);
  return {
    ...explained,
    since: isoTime(sinceMsOf(operator, module.name, explained.status, queued.get(module.name) ?? [])),
  };
}

/** Everything but the time of the status, which is known last. */
type Timeless = Omit<ModuleExplanation, 'since'>;

/** Adds the causes, and with them the final status and phase. */
function withCauses(facts: Omit<Timeless, 'causes' | 'phase'>, obstacles: Obstacles): Timeless {
  const causes = causesOf(facts, obstacles);
  // Ready, but something keeps the module from following changes.
  const status = facts.status === 'ready' && causes.length > 0 ? 'held-up' : facts.status;
  const explained = { ...facts, status, causes };
  return { ...explained, phase: modulePhase(explained, obstacles) };
}

/**
 * The facts of a module without causes. Nothing is derived from other modules except the states of
 * required ones.
 */
function factsOf(
  operator: Explained,
  module: Module,
  releases: readonly ReleaseInCluster[],
  queued: PlacesByModule,
  common: CommonObstacles,
): Omit<Timeless, 'causes' | 'phase'> {
  const { name, order, path, source, manifest } = module;
  const places = queued.get(name) ?? [];
  const tracked = operator.registry.tracked.get(name);
  const release = releases.find((other) => other.name === name);
  const status = statusOf(operator, name, places);
  const waits = waitsOf(operator, name, places, commonWaits(operator));
  return {
    module: name,
    status,
    ...decisionOf(operator, name),
    ...heldBy(operator, status, name),
    position: {
      place: operator.registry.modules.indexOf(module) + 1,
      of: operator.registry.modules.length,
      order,
    },
    path: source ?? path,
    version: module.version ?? null,
    deletionPolicy: manifest.deletionPolicy,
    requires: requirementsOf(operator, module, queued, common),
    ...saidByAuthor(operator, module),
    step: stepOf(operator, name),
    waitsFor: waits.map(({ text }) => text),
    ...(waits.length > 0 && { waits }),
    failure: failureOf(operator, name, places),
    lastRun: shownRun(tracked?.history.lastRun),
    nextReconcileAt: timeOrNull(operator.router.requeues.dueMs(name)),
    release: release === undefined ? null : { revision: release.revision, isOwned: release.isOwned },
    pause: pauseOf(operator, name),
    drift: driftOf(operator, name),
    ...updateOf(operator, name),
    ...deliveryOf(operator, name),
    ...warningsOf(operator, tracked),
  };
}

/**
 * The requirements of a module, each with the state of that module and the reason why it is not
 * met.
 */
function requirementsOf(
  operator: Explained,
  module: Module,
  queued: PlacesByModule,
  common: CommonObstacles,
): ModuleExplanation['requires'] {
  const { registry } = operator;
  const facts = {
    modules: { get: (name: ModuleName) => registry.find(name) },
    enabled: { has: (name: ModuleName) => registry.isEnabled(name) },
    deployed: registry.deployed,
    undecided: registry.discovery?.undecided,
  };
  return module.manifest.requires.map(({ name, version, isOptional }) => ({
    name,
    range: version ?? null,
    isOptional,
    status: isKnown(operator, name) ? shownStatusOf(operator, name, queued.get(name) ?? [], common) : null,
    // Before the first discovery no requirement is checked.
    unmet: registry.discovery === undefined ? null : (unmetOf(module, name, facts) ?? null),
  }));
}

/** The phase of the module's last or current run. */
function stepOf({ registry }: Explained, name: ModuleName): string {
  return registry.tracked.get(name)?.phase ?? 'not started';
}

/**
 * Problems that are no failure of the module. Global hooks are included: values that they set may
 * be missing.
 */
function warningsOf(
  operator: Explained,
  tracked: TrackedModule | undefined,
): Pick<ModuleExplanation, 'warnings'> {
  const { clock, globalHooks } = operator;
  const runtimes = [...(tracked?.hooks ?? []), ...globalHooks.runtimes];
  const { waiting, failed } = unfinishedRuns(operator, runtimes);
  const warnings = [
    ...failed.map(failedRunText),
    ...[...staleBindings(runtimes, clock), ...unfilteredObjects(runtimes, clock)].map(({ text }) => text),
    ...waiting,
    ...(tracked?.settings?.warnings ?? []).map((text) => `its section of the ConfigMap: ${oneLine(text)}`),
  ];
  return warnings.length === 0 ? {} : { warnings };
}

/**
 * Explanations of modules whose directories are gone and whose releases are held.
 *
 * @param releases those in the cluster
 */
export function heldExplanations(
  operator: Explained,
  releases: readonly ReleaseInCluster[],
): readonly ModuleExplanation[] {
  const { clock, registry, statusTimes } = operator;
  const { purge } = operator.converge;
  if (typeof purge === 'string') return [];
  return purge.releases.map((name) => {
    const release = releases.find((other) => other.name === name);
    const facts = {
      module: name,
      status: 'held' as const,
      isEnabled: false,
      source: null,
      reason: `its directory is gone; ${heldPurgeText(purge)}`,
      position: { place: 0, of: registry.modules.length, order: 0 },
      path: 'none',
      version: null,
      deletionPolicy: 'unknown',
      requires: [],
      step: 'not started',
      waitsFor: [`a decision: ${CONFIRM_COMMAND}, or its directory`],
      failure: null,
      lastRun: null,
      nextReconcileAt: null,
      release: release === undefined ? null : { revision: release.revision, isOwned: release.isOwned },
      pause: null,
      drift: null,
    };
    return {
      ...withCauses(facts, NO_OBSTACLES),
      since: isoTime(statusTimes.since(name, 'held', () => clock.wallMs())),
    };
  });
}

type Decision = Pick<ModuleExplanation, 'isEnabled' | 'source' | 'reason'>;

/** The decision of the last discovery; disabled without a source before the first one. */
function decisionOf({ registry: { discovery } }: Explained, name: ModuleName): Decision {
  const decision = discovery?.decisions.get(name);
  if (decision !== undefined) {
    const { isEnabled, source, reason } = decision;
    return { isEnabled, source, reason };
  }
  return { isEnabled: false, source: null, reason: 'the first discovery is not finished yet' };
}

/** The status by decision, pause, queues and last run, without obstacles outside of the module. */
function statusOf(operator: Explained, name: ModuleName, places: readonly Place[]): ModuleStatus {
  const decision = operator.registry.discovery?.decisions.get(name);
  // The order is the order of precedence: what prevents a run comes before how the last one went.
  if (operator.registry.discovery === undefined) return 'undecided';
  if (decision?.source === 'authorization') return 'unauthorized';
  const isRefused = operator.registry.holdOf(name) !== undefined;
  // A refused module that is disabled anyway is shown as disabled.
  if (operator.registry.isHeldBack(name) || (isRefused && operator.registry.isEnabled(name))) return 'held';
  if (!operator.registry.isEnabled(name))
    return operator.registry.isDeletionPending(name) ||
      places.some(({ entry }) => entry.task.type === 'ModuleDelete')
      ? 'deleting'
      : 'disabled';
  if (operator.pauses.of(name) !== undefined) return 'paused';
  if (places.some(({ queue }) => isIsolated(queue))) return 'isolated';
  const tracked = operator.registry.tracked.get(name);
  if (tracked?.stall !== undefined || failedPlaceOf(places) !== undefined) return 'failing';
  return tracked?.phase === 'ready' && tracked.readiness?.type !== 'not-ready' ? 'ready' : 'starting';
}

/** Since when the module has this status, on the wall clock. */
function sinceMsOf(
  { clock, pauses, router, statusTimes }: Explained,
  name: ModuleName,
  status: ModuleStatus,
  places: readonly Place[],
): number {
  const beganMs = (): number => {
    if (status === 'paused') return pauses.of(name)?.sinceMs ?? clock.wallMs();
    if (status === 'held') return router.failedScripts.of(name)?.sinceMs ?? clock.wallMs();
    const failingMs = failedPlaceOf(places)?.entry.failingSinceMs;
    const isFailing = status === 'failing' || status === 'isolated';
    return isFailing && failingMs !== undefined ? wallTimeOf(failingMs, clock) : clock.wallMs();
  };
  return statusTimes.since(name, status, beganMs);
}

/** The status in lists: `held-up` if a ready module is kept from following changes. */
function shownStatusOf(
  operator: Explained,
  name: ModuleName,
  places: readonly Place[],
  common: CommonObstacles,
): ModuleStatus {
  const own = statusOf(operator, name, places);
  return own === 'ready' && isHeldUp(operator, name, places, common) ? 'held-up' : own;
}

/** Whether a module of this name exists. */
function isKnown({ registry }: Explained, name: ModuleName): boolean {
  return registry.find(name) !== undefined;
}

/**
 * The first failed task of the module. A parallel run repeats failures of all its members, which
 * their own tasks show.
 */
function failedPlaceOf(places: readonly Place[]): Place | undefined {
  return places.find(({ entry }) => entry.failures > 0 && entry.task.type !== 'ParallelModuleRun');
}

/**
 * The last failure that has not been solved: of the enabled script, a stall, or a failed task that
 * is retried.
 */
function failureOf(operator: Explained, name: ModuleName, places: readonly Place[]): ModuleFailure | null {
  const tracked = operator.registry.tracked.get(name);
  // A failed script comes first, as it keeps the module from running at all.
  const undecided = failedScriptOf(operator, name);
  if (undecided !== undefined) return undecided;
  if (tracked?.stall !== undefined) {
    const { error, code } = tracked.stall;
    return {
      error,
      ...placeOfPart(operator, tracked.failedPart),
      ...(code !== undefined && { code }),
      attempts: 1,
      nextAttemptAt: null,
      isGivenUp: true,
    };
  }
  const failed = failedPlaceOf(places);
  if (failed === undefined) return null;
  const { queue, entry, index } = failed;
  return {
    error: entry.lastError,
    ...placeOfPart(operator, failedPartOf(entry.task, tracked)),
    ...(entry.lastCode !== undefined && { code: entry.lastCode }),
    attempts: entry.failures,
    nextAttemptAt: index === 0 ? timeOrNull(nextAttemptMs(queue)) : null,
    isGivenUp: false,
  };
}

/** The hook file, or the requirement, in which a run failed. */
function placeOfPart({ registry }: Explained, part: ModulePart | undefined): Pick<ModuleFailure, 'place'> {
  if (part?.type !== 'hook') return part === undefined ? {} : { place: part };
  return { place: { type: 'hook', file: sourceFile(part.hook, registry), binding: part.binding } };
}

/** The pause of a module in the format of explanations; null without one. */
function pauseOf({ pauses }: Explained, name: ModuleName): ModulePause | null {
  const pause = pauses.of(name);
  if (pause === undefined) return null;
  const { sinceMs, untilMs, ...rest } = pause;
  return {
    ...rest,
    since: isoTime(sinceMs),
    until: timeOrNull(untilMs),
    isOfAll: pauses.isOfAll(name),
  };
}

/** The pause in the shorter format of lists. */
function pauseSummary({
  since: _since,
  isOfAll: _isOfAll,
  ...summary
}: ModulePause): ModuleSummary['paused'] {
  return summary;
}

function timeOrNull(epochMs: number | undefined): string | null {
  return epochMs === undefined ? null : isoTime(epochMs);
}
