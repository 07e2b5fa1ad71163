import { OperatorError } from '@addon-operator/base/errors';
import type { ModuleKey } from '../values/module-key.ts';
import type { Module } from './module.ts';

/** What decides about modules, as users name it in `--applied-module-extenders`. */
export const EXTENDERS = ['Static', 'DynamicallyEnabled', 'KubeConfig', 'ScriptEnabled'] as const;
export type Extender = (typeof EXTENDERS)[number];

/** Current flags of modules. A module without an entry gets no opinion from that source. */
export interface ModuleFlags {
  /** `<key>Enabled` of the common values.yaml files. */
  readonly common: ReadonlyMap<ModuleKey, boolean>;
  /** Set by patches of global hooks. */
  readonly dynamic: ReadonlyMap<ModuleKey, boolean>;
  /** `<key>Enabled` of the ConfigMap. */
  readonly configMap: ReadonlyMap<ModuleKey, boolean>;
  /** Source of a flag, for reasons: the file of a common flag, the global hook that set a dynamic one. */
  readonly places?: {
    readonly common: ReadonlyMap<ModuleKey, string>;
    readonly dynamic: ReadonlyMap<ModuleKey, string>;
  };
}

/** Where the last word about a module came from. */
type DecisionSource =
  | 'default'
  | 'common-values'
  | 'module-values'
  | 'global-hook'
  | 'config-map'
  | 'enabled-script'
  /** The script failed: whether the module is to run is not known, and it stays as it is. */
  | 'enabled-script-failure'
  | 'requirement'
  | 'authorization'
  /** Its files cannot be read or used. */
  | 'files'
  | 'deletion-policy';

export interface Decision {
  readonly isEnabled: boolean;
  readonly source: DecisionSource;
  /** One sentence for status and log; for a script the reason it gave, if it gave one. */
  readonly reason: string;
}

export const DISABLED_BY_DEFAULT: Decision = {
  isEnabled: false,
  source: 'default',
  reason: 'no source sets the flag of the module',
};

/** What one source said about the flag of a module. */
export interface SourceResponse {
  readonly extender: Extender;
  /** Where it says it; null for sources that are no files, and where there is no file. */
  readonly file: string | null;
  /** Null: nothing. */
  readonly isEnabled: boolean | null;
  /** Empty where there is none. */
  readonly reason: string;
}

/** The file, or the hook, that an extender reads the flag of a module from. */
export function fileOf(extender: Extender, module: Module, { places }: ModuleFlags): string | null {
  switch (extender) {
    case 'Static':
      if (module.ownFlag !== undefined) return `${module.source ?? module.path}/values.yaml`;
      return places?.common.get(module.key) ?? null;
    case 'DynamicallyEnabled':
      return places?.dynamic.get(module.key) ?? null;
    case 'KubeConfig':
      return null;
    case 'ScriptEnabled':
      return module.enabledScript ?? null;
  }
}

/** The opinion of one extender about a module: its flag, `none` for no opinion, `ask-script` where the script decides. */
type Opinion =
  | { readonly type: 'none' }
  | { readonly type: 'flag'; readonly decision: Decision }
  | { readonly type: 'run-script' };

/** The opinion of one extender. Scripts can only disable, so they run for modules that are enabled so far. */
export function opinionOf(extender: Extender, module: Module, flags: ModuleFlags, soFar: Decision): Opinion {
  const flag = `${module.key}Enabled`;
  switch (extender) {
    case 'Static':
      if (module.ownFlag !== undefined) {
        return flagOpinion(module.ownFlag, 'module-values', `${flag} in the values.yaml of the module`);
      }
      return flagOpinion(
        flags.common.get(module.key),
        'common-values',
        `${flag} in ${flags.places?.common.get(module.key) ?? 'the common values.yaml'}`,
      );
    case 'DynamicallyEnabled':
      return flagOpinion(
        flags.dynamic.get(module.key),
        'global-hook',
        `${flag} set by global hook ${flags.places?.dynamic.get(module.key) ?? ''}`.trimEnd(),
      );
    case 'KubeConfig':
      return flagOpinion(flags.configMap.get(module.key), 'config-map', `${flag} in the ConfigMap`);
    case 'ScriptEnabled':
      return soFar.isEnabled && module.enabledScript !== undefined
        ? { type: 'run-script' }
        : { type: 'none' };
  }
}

function flagOpinion(isEnabled: boolean | undefined, source: DecisionSource, place: string): Opinion {
  if (isEnabled === undefined) return { type: 'none' };
  return { type: 'flag', decision: { isEnabled, source, reason: `${place} is ${isEnabled}` } };
}

/**
 * Reads the value of `--applied-module-extenders`: exact names, comma-separated, in the wanted order. Empty means all
 * of them in the usual order.
 *
 * @throws OperatorError CONFIG_INVALID for an unknown name or one given twice
 */
export function parseExtenders(text: string): readonly Extender[] {
  if (text.trim() === '') return EXTENDERS;
  const names = text.split(',').map((name) => name.trim());
  const extenders: Extender[] = [];
  for (const name of names) {
    const extender = EXTENDERS.find((known) => known === name);
    if (extender === undefined) {
      throw new OperatorError(
        'CONFIG_INVALID',
        `couldn't find ${name} extender in the list of available extenders (${EXTENDERS.join(', ')})`,
      );
    }
    if (extenders.includes(extender)) {
      throw new OperatorError(
        'CONFIG_INVALID',
        `there are multiple entries for ${name} extender in ADDON_OPERATOR_APPLIED_MODULE_EXTENDERS variable`,
      );
    }
    extenders.push(extender);
  }
  return extenders;
}

/** What the flags alone say about a module, without running its enabled script. */
export function flagDecision(module: Module, flags: ModuleFlags, extenders: readonly Extender[]): Decision {
  let decision = DISABLED_BY_DEFAULT;
  for (const extender of extenders) {
    const opinion = opinionOf(extender, module, flags, decision);
    if (opinion.type === 'flag') decision = opinion.decision;
  }
  return decision;
}
