/**
 * The plan of one enabled module: its hooks, CRDs and the difference of its release. Values that hooks would set are taken
 * from the last deployment (`last-hook-values.ts`), and the plan names the hooks by which the result may differ.
 */

import { messageOf } from '@addon-operator/base/errors';
import { findCrdFiles } from '../modules/crds/crds-of-modules.ts';
import { previewCrds } from '../modules/crds/preview-crds.ts';
import type { Module } from '../modules/module.ts';
import type { ReleaseSummary } from '../releases/helm-driver.ts';
import type { ReleaseSteps } from '../releases/release-steps.ts';
import { GLOBAL_SECTION, type ValuesOwner } from '../values/module-key.ts';
import { visibleToHelm } from '../values/visible-values.ts';
import type { Inspection } from './inspection.ts';
import type { LastHookValues } from './last-hook-values.ts';
import { type ManifestChange, manifestChanges, objectChange } from './manifest-changes.ts';
import {
  errorOf,
  hooksOrNone,
  type ModulePlan,
  NOTHING,
  type PlanOfModule,
  plannedHooks,
  plannedHttpHook,
  runsBeforeHelm,
} from './plan.ts';

interface ModuleToPlan {
  readonly module: Module;
  readonly release: ReleaseSummary | undefined;
  /** Whether global hooks may change the global values before the module runs. */
  readonly areGlobalsOpen: boolean;
  readonly lastHookValues: LastHookValues;
}

/** The plan of an enabled module. A part that cannot be inspected is the `error` of the plan. */
export async function planModuleRun(
  inspection: Inspection,
  { module, release, areGlobalsOpen, lastHookValues }: ModuleToPlan,
  signal: AbortSignal,
): Promise<PlanOfModule> {
  const { operator } = inspection;
  const problems: string[] = [];
  const hooks = await hooksOrNone(() => operator.sources.loadModuleHooks(module, signal), problems, signal);
  const calls = plannedHttpHook(module, 'pre-reconcile');
  const crds = await crdChanges(inspection, module, problems, signal);
  const planned = { ...NOTHING, hooks: [...plannedHooks(hooks, 'run'), ...calls], crds };
  const withoutRelease = crds.length === 0 ? 'none' : 'apply-crds';
  if (module.chart === 'none') return { ...planned, action: withoutRelease, ...errorOf(problems) };
  // A module in maintenance whose release exists is left unmanaged; its CRDs are still applied.
  const isUnmanaged = operator.configMapContent().maintenance.has(module.key);
  if (isUnmanaged && release?.isUnmanaged === true) {
    const reason = `${module.key}Maintenance is set: the release is not changed`;
    return { ...planned, action: withoutRelease, reason, ...errorOf(problems) };
  }
  // Hooks are not run, so values that they would set are only assumed.
  const mayDifferBy = hooks.filter(runsBeforeHelm).map(({ name }) => name);
  try {
    await lastHookValues.setModule(module.name, hooks, signal);
    // What hooks may set before helm runs may be missing yet.
    const settled: ValuesOwner[] = [];
    if (!areGlobalsOpen) settled.push(GLOBAL_SECTION);
    if (mayDifferBy.length === 0) settled.push(module.name);
    operator.values.checkForHelm(module.name, settled);
    const found = await planOfRelease(inspection, module, isUnmanaged, signal);
    const action = found.action === 'none' ? withoutRelease : found.action;
    const open = calls.length > 0 ? { asksHttpHook: true as const } : {};
    return { ...planned, ...found, action, mayDifferBy, ...open, ...errorOf(problems) };
  } catch (error) {
    signal.throwIfAborted();
    return { ...planned, mayDifferBy, action: 'upgrade', ...errorOf([...problems, messageOf(error)]) };
  }
}

/** The decision of helm and the difference of the manifests. */
async function planOfRelease(
  { operator, base, namespace, redactor, hasSecretReferences }: Inspection,
  module: Module,
  isUnmanaged: boolean,
  signal: AbortSignal,
): Promise<Pick<ModulePlan, 'action' | 'causes' | 'changes'>> {
  const values = visibleToHelm(operator.values, module.name);
  const request = { module, values, isUnmanaged, steps: await stepsOf(operator, module, signal) };
  const preview = await base.helm.preview(request, signal);
  if (preview.type === 'keep') return { action: 'none', causes: [], changes: [] };
  const before = preview.type === 'install' ? '' : preview.manifest;
  // After a reference is removed it is not known which text of the release it produced.
  const masking = { redactor, masksChanged: hasSecretReferences(module.name) };
  const changes = manifestChanges(before, await base.helm.render(request, signal), namespace, masking);
  // Helm has no reason of its own: the difference decides.
  if (preview.type === 'compare')
    return { action: changes.length === 0 ? 'none' : 'upgrade', causes: [], changes };
  return { action: preview.type, causes: preview.type === 'upgrade' ? preview.causes : [], changes };
}

/** The changes of extensions to the rendering. */
async function stepsOf(
  operator: Inspection['operator'],
  module: Module,
  signal: AbortSignal,
): Promise<ReleaseSteps | undefined> {
  return await operator.extensions.releaseSteps(module, signal);
}

/** The changes of a module's CRDs, without those that stay as they are; a new one is not shown in full. */
async function crdChanges(
  { base, crdFilterPrefixes, crdExtraLabels: extraLabels }: Inspection,
  module: Module,
  problems: string[],
  signal: AbortSignal,
): Promise<readonly ManifestChange[]> {
  try {
    const files = await findCrdFiles(module.path, crdFilterPrefixes);
    const origin = { module: module.name, version: module.version };
    const found = await previewCrds({ kube: base.cluster.helm, extraLabels, origin }, files, signal);
    problems.push(...found.problems);
    return found.crds.map(({ crd, before, after }): ManifestChange => {
      if (before === undefined) return { change: 'create', object: crd, lines: [] };
      const lines = objectChange(crd, before, after)?.lines ?? [];
      return { change: 'change', object: crd, lines };
    });
  } catch (error) {
    signal.throwIfAborted();
    problems.push(messageOf(error));
    return [];
  }
}
