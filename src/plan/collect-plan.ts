/**
 * Computes what a daemon that starts now would do, for `addon-operator plan`. It uses the parts of a real operator that
 * was created but not started (`inspection.ts`): discovery, converge decision, helm preview. Hooks run only with
 * `--config`, enabled scripts run, nothing is written. What cannot be found out is a problem in the plan, not an error,
 * so that one broken module does not hide the others.
 */

import { messageOf } from '@addon-operator/base/errors';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { planConverge } from '../model/converge.ts';
import type { Pause } from '../model/pause-entry.ts';
import type { ReleaseInCluster } from '../model/releases.ts';
import type { Module } from '../modules/module.ts';
import { planPurge } from '../reconcile/plan-purge.ts';
import { purgeInput } from '../reconcile/purge-releases.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Inspection } from './inspection.ts';
import { LastHookValues } from './last-hook-values.ts';
import {
  errorOf,
  hooksOrNone,
  type ModulePlan,
  NOTHING,
  type Plan,
  type PlanOfModule,
  plannedHooks,
  plannedHttpHook,
  runsBeforeHelm,
} from './plan.ts';
import { planModuleRun } from './plan-module-run.ts';

/**
 * The plan of a daemon that starts now. Hooks are run for their configuration and enabled scripts
 * are run; nothing is written to the cluster.
 *
 * @param names modules to be looked at; none for all
 * @throws OperatorError DISCOVERY_FAILED when an enabled script fails that concerns all modules
 */
export async function collectPlan(
  inspection: Inspection,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Plan> {
  const { operator } = inspection;
  const isWanted = ({ name }: { readonly name: string }): boolean =>
    names.length === 0 || names.includes(name);
  const problems: string[] = [];
  const globalHooks = await hooksOrNone(() => operator.sources.loadGlobalHooks(signal), problems, signal);
  const lastHookValues = await LastHookValues.read(inspection, signal);
  try {
    await lastHookValues.setGlobals(globalHooks, signal);
  } catch (error) {
    signal.throwIfAborted();
    problems.push(messageOf(error));
  }
  const releases = await inspection.base.helm.listReleases(signal);
  const owned = new Set(releases.filter(({ isOwned }) => isOwned).map(({ name }) => name));
  const deployed = new Set(
    operator.registry.modules.map(({ name }) => name).filter((name) => owned.has(name)),
  );
  operator.registry.setDeployed(deployed, new Set([...owned, ...operator.memory.names]));
  const { modules: known, before } = operator.registry;
  const discovery = await operator.sources.discover(known, before, signal);
  const { undecided } = discovery;
  const converge = planConverge({
    known: known.map(({ name }) => name),
    enabled: discovery.enabled,
    started: new Set(),
    initialized: new Set(),
    releases: owned,
  });
  const notRun: ModulePlan[] = [];
  const running: ModulePlan[] = [];
  const isDecided = (name: ModuleName): boolean => undecided?.has(name) !== true;
  const [toRun, toDelete] = [new Set(discovery.enabled), new Set(converge.toDelete.filter(isDecided))];
  for (const module of operator.registry.modules.filter(isWanted)) {
    const { name } = module;
    const reason = discovery.decisions.get(name)?.reason ?? '';
    const facts = { module: name, isEnabled: toRun.has(name), reason };
    if (!isDecided(name)) running.push({ ...facts, ...NOTHING, action: 'refuse', ...errorOf([reason]) });
    else if (toRun.has(name)) {
      const release = releases.find((other) => other.name === name);
      const areGlobalsOpen = globalHooks.some(runsBeforeHelm);
      const toPlan = { module, release, areGlobalsOpen, lastHookValues };
      const run = pausedOrRefused(operator, module) ?? (await planModuleRun(inspection, toPlan, signal));
      running.push({ ...facts, ...run });
    } else if (toDelete.has(name)) {
      notRun.push({ ...facts, ...(await planOfDeleted(inspection, module, signal)) });
    } else notRun.push({ ...facts, ...NOTHING, action: 'stay-off' });
  }
  const after = releasesAfter(releases, {
    gone: toDelete,
    deployed: new Set(
      operator.registry.modules
        .filter(({ name, chart }) => toRun.has(name) && chart !== 'none')
        .filter((module) => isDecided(module.name) && pausedOrRefused(operator, module) === undefined)
        .map(({ name }) => name),
    ),
  });
  return {
    globalHooks: plannedHooks(globalHooks, 'run'),
    modules: [...notRun.toReversed(), ...running, ...(await purges(operator, after, isWanted, signal))],
    problems,
  };
}

/** The plan of an enabled module that is paused or refused; undefined for one that is run. */
function pausedOrRefused(operator: Inspection['operator'], module: Module): PlanOfModule | undefined {
  if (module.refusal !== undefined) return { ...NOTHING, action: 'refuse' };
  const pause = operator.pauses.of(module.name);
  return pause && { ...NOTHING, action: 'wait', reason: pauseText(pause) };
}

function pauseText({ reason, untilMs }: Pause): string {
  return `paused${untilMs === undefined ? '' : ` until ${isoTime(untilMs)}`}: ${reason}`;
}

/**
 * The plan for releases without a module.
 *
 * @param releases as they are after the converge
 */
async function purges(
  operator: Inspection['operator'],
  releases: readonly ReleaseInCluster[],
  isWanted: (release: ReleaseInCluster) => boolean,
  signal: AbortSignal,
): Promise<readonly ModulePlan[]> {
  const remembered = await operator.directoryMemory.read(signal);
  const { purged, held } = planPurge(purgeInput(operator, releases, remembered));
  return purged.filter(isWanted).map(({ name, isOwned }): ModulePlan => {
    const gone = { ...NOTHING, module: name, isEnabled: false };
    if (held !== undefined) return { ...gone, action: 'hold', reason: held.reason };
    const reason = isOwned
      ? 'a release of this operator without a module in the modules directories'
      : 'a release of another owner without a module, and --purge-foreign-releases is set';
    return { ...gone, action: 'purge', reason };
  });
}

/** The plan of a module that is disabled and has a release. */
async function planOfDeleted(
  { operator }: Inspection,
  module: Module,
  signal: AbortSignal,
): Promise<PlanOfModule> {
  if (module.manifest.deletionPolicy === 'orphan') return { ...NOTHING, action: 'orphan' };
  const problems: string[] = [];
  const hooks = await hooksOrNone(() => operator.sources.loadModuleHooks(module, signal), problems, signal);
  const planned = [...plannedHttpHook(module, 'finalize'), ...plannedHooks(hooks, 'deletion')];
  return { ...NOTHING, action: 'delete', hooks: planned, ...errorOf(problems) };
}

/** The changes of a converge to releases, when nothing fails. */
interface ReleaseChanges {
  /** Releases that are removed, or stay without an owner. */
  readonly gone: ReadonlySet<string>;
  /** Releases that are installed, upgraded or kept as they are. */
  readonly deployed: ReadonlySet<string>;
}

/** The releases after a converge: those that are left, and those that it brings. */
export function releasesAfter(
  before: readonly ReleaseInCluster[],
  { gone, deployed }: ReleaseChanges,
): readonly ReleaseInCluster[] {
  const known = new Set(before.map(({ name }) => name));
  const left = before
    .filter(({ name }) => !gone.has(name))
    .map((release) => (deployed.has(release.name) ? { ...release, isOwned: true } : release));
  const added = [...deployed]
    .filter((name) => !known.has(name))
    .map((name) => ({ name, revision: 1, status: 'deployed' as const, isOwned: true }));
  return [...left, ...added];
}
