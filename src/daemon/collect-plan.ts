import type { ReleaseSummary } from '../helm/helm-driver.ts';
import type { ReleaseSteps } from '../helm/release-steps.ts';
import type { Hook } from '../hooks/hook.ts';
import { messageOf } from '../lib/errors.ts';
import type { Module } from '../modules/module.ts';
import type { Operator } from '../operator/operator.ts';
import { manifestChanges } from '../operator/plan/manifest-changes.ts';
import {
  type ModulePlan,
  type Plan,
  plannedHook,
  plannedHttpHook,
  runsBeforeHelm,
} from '../operator/plan/plan.ts';
import { visibleToHelm } from '../values/visible-values.ts';
import type { Inspection } from './inspect.ts';

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
      running.push({ ...NOTHING, ...facts, action: 'wait', reason: `paused: ${pause.reason}` });
    } else if (facts.isEnabled) {
      running.push({ ...facts, ...(await planOfRun(inspection, module, releaseOf(module.name), signal)) });
    } else {
      going.push({ ...facts, ...(await planOfDisabled(inspection, module, releaseOf(module.name), signal)) });
    }
  }
  const known = new Set<string>(operator.modules.map(({ name }) => name));
  const unknown = releases.filter(({ name }) => !known.has(name) && name !== operator.deps.ignoredRelease);
  const purged = unknown
    .filter((release) => release.isOwned && release.isKept !== true && isWanted(release))
    .map(
      ({ name }): ModulePlan => ({
        ...NOTHING,
        module: name,
        action: 'purge',
        isEnabled: false,
        reason: 'a release of ours without a module in the modules directories',
      }),
    );
  return {
    globalHooks: globalHooks.map(plannedHook),
    modules: [...going.toReversed(), ...running, ...purged],
    problems,
  };
}

type Facts = 'module' | 'isEnabled' | 'reason';
type PlanOfModule = Omit<ModulePlan, Facts> & { readonly reason?: string };

const NOTHING = { hooks: [], changes: [], mayDifferBy: [] } as const;

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
  const deleting = hooks.filter(
    ({ config: { lifecycle } }) =>
      lifecycle.beforeDeleteHelm !== undefined || lifecycle.afterDeleteHelm !== undefined,
  );
  const planned = [...plannedHttpHook(module, 'finalize'), ...deleting.map(plannedHook)];
  return { ...NOTHING, action: 'delete', hooks: planned, ...errorOf(problems) };
}

async function planOfRun(
  { operator, base, namespace, redactor }: Inspection,
  module: Module,
  release: ReleaseSummary | undefined,
  signal: AbortSignal,
): Promise<PlanOfModule> {
  const problems: string[] = [];
  const hooks = await hooksOrNone(() => operator.deps.loadModuleHooks(module, signal), problems, signal);
  const asked = plannedHttpHook(module, 'pre-reconcile');
  const planned = {
    hooks: [...hooks.map(plannedHook), ...asked],
    mayDifferBy: hooks.filter(runsBeforeHelm).map(({ name }) => name),
  };
  if (module.chart === 'none')
    return { ...NOTHING, ...planned, mayDifferBy: [], action: 'none', ...errorOf(problems) };
  const isUnmanaged = operator.deps.configMapContent().maintenance.has(module.key);
  if (isUnmanaged && release?.isUnmanaged === true) {
    const reason = `${module.key}Maintenance is set: the release is left as it is`;
    return { ...NOTHING, ...planned, mayDifferBy: [], action: 'none', reason, ...errorOf(problems) };
  }
  try {
    const values = visibleToHelm(operator.deps.values, module.name);
    const steps = await stepsOf(operator, module, signal);
    const after = await base.helm.render({ module, values, isUnmanaged, steps }, signal);
    const before = release === undefined ? '' : await base.helm.manifest(module.name, signal);
    const changes = manifestChanges(before, after, namespace, redactor);
    const isCurrent = changes.length === 0 && release?.status === 'deployed';
    const action = release === undefined ? 'install' : isCurrent ? 'none' : 'upgrade';
    const open = asked.length > 0 ? { asksHttpHook: true as const } : {};
    return { ...planned, changes, action, ...open, ...errorOf(problems) };
  } catch (error) {
    signal.throwIfAborted();
    return { ...NOTHING, ...planned, action: 'upgrade', error: messageOf(error) };
  }
}

/** What extensions would do to the rendering. */
async function stepsOf(
  operator: Operator,
  module: Module,
  signal: AbortSignal,
): Promise<ReleaseSteps | undefined> {
  const state = operator.stateOf(module.name);
  return state && (await operator.deps.releaseSteps(module, state, signal));
}

function errorOf(problems: readonly string[]): { readonly error?: string } {
  return problems.length === 0 ? {} : { error: problems.join('; ') };
}

/** A hook that does not answer is told of, and the rest is looked at. */
async function hooksOrNone(
  load: () => Promise<readonly Hook[]>,
  problems: string[],
  signal: AbortSignal,
): Promise<readonly Hook[]> {
  try {
    return await load();
  } catch (error) {
    signal.throwIfAborted();
    problems.push(messageOf(error));
    return [];
  }
}
