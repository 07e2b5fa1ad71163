import { OperatorError } from '@addon-operator/base/errors';
import type { ModuleKey } from '../values/module-key.ts';
import type { Module } from './module.ts';

/** The sources that decide about modules, with the names in `--applied-module-extenders`. */
export const EXTENDERS = ['Static', 'DynamicallyEnabled', 'KubeConfig', 'ScriptEnabled'] as const;
export type Extender = (typeof EXTENDERS)[number];

/** Current flags of modules. A source without an entry for a module has no opinion about it. */
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

/** The source of the final decision about a module. */
type DecisionSource =
  | 'default'
  | 'module-store'
  | 'common-values'
  | 'module-values'
  | 'global-hook'
  | 'config-map'
  | 'enabled-script'
  /** The script failed: the decision is unknown, and the module stays as it is. */
  | 'enabled-script-failure'
  | 'requirement'
  | 'authorization'
  /** Its files are lost or invalid. */
  | 'files'
  | 'removal'
  | 'deletion-policy';

export interface Decision {
  readonly isEnabled: boolean;
  readonly source: DecisionSource;
  /** One sentence for status and log; for a script its own reason, if it gave one. */
  readonly reason: string;
}

export const DISABLED_BY_DEFAULT: Decision = {
  isEnabled: false,
  source: 'default',
  reason: 'no source sets the flag of the module',
};

const ENABLED_BY_STORE: Decision = {
  isEnabled: true,
  source: 'module-store',
  reason: 'it is in the module store, and no source sets the flag of the module',
};

/** The decision about a module where no source has an opinion. */
export function defaultDecision({ isStored }: Module): Decision {
  return isStored === true ? ENABLED_BY_STORE : DISABLED_BY_DEFAULT;
}

const REMOVED: Decision = {
  isEnabled: false,
  source: 'removal',
  reason: 'it was removed from the module store',
};

/** The decision about a module before any source is asked; undefined if they decide. */
export function removalDecision({ isRemoved }: Module): Decision | undefined {
  return isRemoved ? REMOVED : undefined;
}

/** The opinion of one source, for explanations. */
export interface SourceResponse {
  readonly extender: Extender;
  /** The file with the flag; null for sources without files. */
  readonly file: string | null;
  /** Null: no opinion. */
  readonly isEnabled: boolean | null;
  /** Empty if there is none. */
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

/**
 * The opinion of one extender about a module: its flag, `none` for no opinion, `run-script` if the
 * script decides.
 */
type Opinion =
  | { readonly type: 'none' }
  | { readonly type: 'flag'; readonly decision: Decision }
  | { readonly type: 'run-script' };

/**
 * The opinion of one extender. Scripts can only disable, so they run only for modules that are
 * enabled so far.
 */
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
 * Parses `--applied-module-extenders`: exact names, comma-separated, in the order of precedence.
 * Empty means all in the default order.
 *
 * @throws OperatorError CONFIG_INVALID for an unknown name, or one given twice
 */
export function parseExtenders(value: string): readonly Extender[] {
  if (value.trim() === '') return EXTENDERS;
  const names = value.split(',').map((name) => name.trim());
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

/**
 * The decision of the flags alone, without the enabled script. Later extenders override earlier
 * ones.
 */
export function flagDecision(module: Module, flags: ModuleFlags, extenders: readonly Extender[]): Decision {
  let decision = defaultDecision(module);
  if (module.isRemoved) return REMOVED;
  for (const extender of extenders) {
    const opinion = opinionOf(extender, module, flags, decision);
    if (opinion.type === 'flag') decision = opinion.decision;
  }
  return decision;
}
