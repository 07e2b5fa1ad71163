import type { ReleaseSummary } from '../helm/helm-driver.ts';
import type { Module } from '../modules/module.ts';
import type { Pause } from '../operator/pause-entry.ts';
import {
  type ModulePlan,
  type Plan,
  plannedHooks,
  plannedHttpHook,
  runsBeforeHelm,
} from '../operator/plan/plan.ts';
import type { Inspection } from './inspect.ts';
import { planModuleRun } from './plan-module-run.ts';
import { errorOf, hooksOrNone, NOTHING, type PlanOfModule } from './plan-parts.ts';

/**
 * What a daemon that starts now would do, without doing it. Hooks are asked for their configuration and enabled scripts
 * are run; nothing is written to the cluster.
 *
 * @param names modules to be looked at; none for all
 * @throws OperatorError DISCOVERY_FAILED when an enabled script fails
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
  const globalHooks = await hooksOrNone(() => operator.deps.loadGlobalHooks(signal), problems, signal);
  const releases = await inspection.base.helm.listReleases(signal);
  const owned = new Set(releases.filter(({ isOwned }) => isOwned).map(({ name }) => name));
  const deployed = new Set(operator.modules.map(({ name }) => name).filter((name) => owned.has(name)));
  const discovery = await operator.deps.discover(operator.modules, deployed, signal);
  const releaseOf = (name: string): ReleaseSummary | undefined =>
    releases.find((release) => release.name === name);
  const going: ModulePlan[] = [];
  const running: ModulePlan[] = [];
  for (const module of operator.modules.filter(isWanted)) {
    const decision = discovery.decisions.get(module.name);
    const facts = {
      module: module.name,
      isEnabled: decision?.isEnabled ?? false,
      reason: decision?.reason ?? '',
    };
    const pause = operator.deps.pauses.of(module.name);
    if (facts.isEnabled && module.refusal !== undefined) {
      running.push({ ...NOTHING, ...facts, action: 'refuse' });
    } else if (facts.isEnabled && pause !== undefined) {
      running.push({ ...NOTHING, ...facts, action: 'wait', reason: pauseText(pause) });
    } else if (facts.isEnabled) {
      running.push({
        ...facts,
        ...(await planModuleRun(
          inspection,
          { module, release: releaseOf(module.name), areGlobalsOpen: globalHooks.some(runsBeforeHelm) },
          signal,
        )),
      });
    } else {
      going.push({ ...facts, ...(await planOfDisabled(inspection, module, releaseOf(module.name), signal)) });
    }
  }
  return {
    globalHooks: plannedHooks(globalHooks, 'run'),
    modules: [...going.toReversed(), ...running, ...purges(operator, releases.filter(isWanted))],
    problems,
  };
}

function pauseText({ reason, untilMs }: Pause): string {
  return `paused${untilMs === undefined ? '' : ` until ${new Date(untilMs).toISOString()}`}: ${reason}`;
}

/** What would become of releases without a module. */
function purges(
  { modules, deps }: Inspection['operator'],
  releases: readonly ReleaseSummary[],
): readonly ModulePlan[] {
  const known = new Set<string>(modules.map(({ name }) => name));
  return releases
    .filter(({ name }) => !known.has(name) && name !== deps.ignoredRelease)
    .filter(({ isKept, status }) => isKept !== true && status !== 'uninstalled')
    .filter(({ isOwned }) => isOwned || deps.purgesForeignReleases)
    .map(({ name, isOwned }): ModulePlan => {
      const reason = isOwned
        ? 'a release of ours without a module in the modules directories'
        : 'a release of others without a module, and --purge-foreign-releases is set';
      return { ...NOTHING, module: name, action: 'purge', isEnabled: false, reason };
    });
}

async function planOfDisabled(
  { operator }: Inspection,
  module: Module,
  release: ReleaseSummary | undefined,
  signal: AbortSignal,
): Promise<PlanOfModule> {
  if (release === undefined || !release.isOwned) return { ...NOTHING, action: 'stay-off' };
  if (module.manifest.deletionPolicy === 'orphan') return { ...NOTHING, action: 'orphan' };
  const problems: string[] = [];
  const hooks = await hooksOrNone(() => operator.deps.loadModuleHooks(module, signal), problems, signal);
  const planned = [...plannedHttpHook(module, 'finalize'), ...plannedHooks(hooks, 'deletion')];
  return { ...NOTHING, action: 'delete', hooks: planned, ...errorOf(problems) };
}
