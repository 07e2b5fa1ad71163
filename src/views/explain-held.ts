import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { headlineOf } from '@addon-operator/strings/headline';
import type { Place } from '../model/module-places.ts';
import { firstCauseOf } from '../status/module-causes.ts';
import type { ModuleExplanation, ModuleFailure, ModuleStatus } from '../status/module-explanation.ts';
import type { ModuleName } from '../values/module-key.ts';
import { type CommonObstacles, obstaclesOf } from './collect-obstacles.ts';
import { driftOf } from './explain-drift.ts';
import type { Explained } from './explained.ts';

type HoldParts = Pick<Explained, 'registry' | 'router'>;

// The causes are part of the API: they appear as condition reasons of Module objects.
const HELD_CAUSES = {
  gone: 'DirectoryGone',
  invalid: 'ModuleInvalid',
  cycle: 'ModuleInvalid',
  undecided: 'EnabledScriptFailed',
} as const;

/** Why a module is held, and what a user does about it; empty if it is not held. */
export function heldBy(
  { registry, router }: HoldParts,
  status: ModuleStatus,
  name: ModuleName,
): Pick<ModuleExplanation, 'held'> {
  const refusal = registry.holdOf(name);
  if (status !== 'held' || refusal === undefined || refusal.type === 'unauthorized') return {};
  const { type, reason, remedy } = refusal;
  const failed = type === 'undecided' ? router.failedScripts.of(name) : undefined;
  // Only a failing script is retried, so only there the first failure matters.
  const since = failed === undefined ? '' : `since ${isoTime(failed.sinceMs)} `;
  const hooks =
    registry.started.has(name) && type === 'undecided' ? 'its hooks go on' : 'its hooks do not run';
  const text = `${since}${headlineOf(reason)}; its release and objects stay, and ${hooks}`;
  const isAway = type === 'gone' && refusal.lost === 'content';
  return { held: { cause: isAway ? 'SourceUnavailable' : HELD_CAUSES[type], text, remedy } };
}

/**
 * The failure of a module's enabled script, which keeps the module as it is; undefined without one.
 */
export function failedScriptOf({ registry, router }: HoldParts, name: ModuleName): ModuleFailure | undefined {
  const error = registry.discovery?.undecided?.get(name);
  if (error === undefined) return undefined;
  const { attempts = 1 } = router.failedScripts.of(name) ?? {};
  const { dueMs } = router.failedScripts;
  const nextAttemptAt = dueMs === undefined ? null : isoTime(dueMs);
  return { error, code: 'ENABLED_SCRIPT_FAILED', attempts, nextAttemptAt, isGivenUp: false };
}

/** The facts of a module without any problem of its own. */
const READY = {
  status: 'ready',
  source: null,
  reason: '',
  path: '',
  requires: [],
  step: 'ready',
  failure: null,
  pause: null,
  nextReconcileAt: null,
  waitsFor: [],
} as const;

// Whether a ready module is kept from following changes.
export function isHeldUp(
  operator: Explained,
  module: ModuleName,
  places: readonly Place[],
  common: CommonObstacles,
): boolean {
  const facts = { ...READY, module, drift: driftOf(operator, module) };
  return firstCauseOf(facts, obstaclesOf(operator, module, places, common)) !== undefined;
}
