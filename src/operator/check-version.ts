import { hasCode, messageOf } from '@addon-operator/base/errors';
import type { JsonObject } from '@addon-operator/json';
import type { SwitchRefusal } from '../delivery/module-switch.ts';
import { rethrowAbort } from '../hook-runs/rethrow-abort.ts';
import type { SettingsChecks } from '../hook-runs/settings-checks.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Releases } from '../model/releases.ts';
import type { ModuleCrds, ModuleReading, ModuleSources } from '../model/services.ts';
import type { Module } from '../modules/module.ts';
import type { RefusedObject } from '../releases/dry-run.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { visibleToHelm } from '../values/visible-values.ts';

/** The parts that a version is checked with before it runs. */
export interface CheckVersionParts {
  readonly registry: Pick<ModuleRegistry, 'isEnabled' | 'isFlaggedOff'>;
  readonly sources: Pick<ModuleSources, 'prepareModuleHooks'>;
  readonly values: Pick<ValuesStore, 'withFiles'>;
  readonly settingsChecks: Pick<SettingsChecks, 'problemsOf'>;
  readonly releases: Pick<Releases, 'preflight'>;
  readonly crds: Pick<ModuleCrds, 'preview'>;
}

/** A version that may run; `keep` hands its hooks to the next run of the module. */
export interface AcceptedVersion {
  readonly type: 'accepted';
  readonly keep: () => void;
  /** CRDs that stay as a newer version has applied them, in sentences for users. */
  readonly keptCrds: readonly string[];
}

interface CheckedVersion {
  readonly module: Module;
  readonly reading: Pick<ModuleReading, 'staticValues'>;
  /** Replaces the section of the ConfigMap; undefined: the current one stays. */
  readonly section: JsonObject | undefined;
}

/**
 * Checks a version of a module while the old one runs: its files, the `--config` of its hooks, the
 * section of the ConfigMap against its schemas, whether its CRDs can be applied, and whether its chart renders
 * and the API server would take its objects. Nothing is changed.
 */
export async function checkVersion(
  parts: CheckVersionParts,
  { module, reading, section }: CheckedVersion,
  signal: AbortSignal,
): Promise<AcceptedVersion | SwitchRefusal> {
  const { name, refusal, chart: kind } = module;
  const refused = (reason: SwitchRefusal['reason'], message: string): SwitchRefusal => ({
    type: 'refused',
    reason,
    message,
  });
  if (refusal !== undefined) return refused('NotLoadable', refusal.reason);
  if (parts.registry.isFlaggedOff(name)) return { type: 'accepted', keep: () => undefined, keptCrds: [] };
  try {
    const { hooks, keep } = await parts.sources.prepareModuleHooks(module, signal);
    const values = parts.values.withFiles(reading.staticValues, name, section);
    const current = values.configValues(name) ?? {};
    if (Object.keys(current).length > 0) values.checkConfigSection(name, current);
    const problems = await parts.settingsChecks.problemsOf({ name, hooks, values }, current, signal);
    if (problems.length > 0) return refused('SettingsInvalid', problems.join('\n'));
    if (!parts.registry.isEnabled(name)) return { type: 'accepted', keep, keptCrds: [] };
    const crds = await parts.crds.preview(module, signal);
    if (crds.problems.length > 0) return refused('WouldFail', crds.problems.join('\n'));
    if (kind !== 'none') {
      const found = await refusedObjects(parts, module, values, signal);
      const [chart] = found.filter(({ object }) => object === 'chart');
      if (chart !== undefined && !(hooks.length > 0 && isAboutValues(chart.reason)))
        return refused('NotLoadable', chart.reason);
      if (chart === undefined && found.length > 0)
        return refused('WouldFail', found.map(({ object, reason }) => `${object}: ${reason}`).join('\n'));
    }
    return { type: 'accepted', keep, keptCrds: crds.kept };
  } catch (error) {
    rethrowAbort(error, signal);
    return refused(hasCode(error, 'VALUES_INVALID') ? 'SettingsInvalid' : 'NotLoadable', messageOf(error));
  }
}

async function refusedObjects(
  { releases }: CheckVersionParts,
  module: Module,
  values: ValuesStore,
  signal: AbortSignal,
): Promise<readonly RefusedObject[]> {
  try {
    return await releases.preflight(module, visibleToHelm(values, module.name), signal);
  } catch (error) {
    rethrowAbort(error, signal);
    // A Secret that is missing says nothing about the version.
    if (hasCode(error, 'SECRET_MISSING')) return [];
    throw error;
  }
}

/** Messages of helm about values that are missing, which hooks of the version may set when it runs. */
const ABOUT_VALUES =
  /nil pointer|<nil>|got nil|invalid value; expected|\bis required\b|values don't meet the specifications/u;

function isAboutValues(problem: string): boolean {
  return ABOUT_VALUES.test(problem);
}
