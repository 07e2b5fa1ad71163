/**
 * Selects what a hook, an enabled script or helm sees of the values. Nothing is computed here that the store does not
 * know: this is the one place that decides which sections go into which file.
 */

import type { Json, JsonObject } from '@addon-operator/json';
import { GLOBAL_SECTION, keyOfName, type ModuleName, type ValuesOwner } from './module-key.ts';
import type { ValuesStore } from './values-store.ts';

/** Contents of the two files a hook or script can read. */
export interface VisibleValues {
  /** For `VALUES_PATH`: everything merged. */
  readonly values: JsonObject;
  /** For `CONFIG_VALUES_PATH`: only the ConfigMap; a section it does not have is null. */
  readonly configValues: JsonObject;
}

/** The values that a global hook sees. */
export function visibleToGlobalHook(store: ValuesStore): VisibleValues {
  return {
    values: { [GLOBAL_SECTION]: store.globalValues() },
    configValues: { [GLOBAL_SECTION]: store.globalConfigValues() ?? null },
  };
}

/** How references to Secrets without a text are taken: `required` refuses them, `optional` leaves them out. */
export type SecretsUse = 'required' | 'optional';

/** Values for a hook or the enabled script of a module, without the list of enabled modules; null: not in the ConfigMap. */
export interface VisibleSections {
  readonly global: JsonObject;
  readonly own: JsonObject;
  readonly globalConfig: JsonObject | null;
  readonly ownConfig: JsonObject | null;
}

/** @throws OperatorError SECRET_MISSING for a required reference without a text */
export function sectionsVisibleToModule(
  store: ValuesStore,
  name: ModuleName,
  secrets: SecretsUse,
): VisibleSections {
  const valuesOf = (owner: ValuesOwner): JsonObject =>
    secrets === 'required' ? store.values(owner) : store.knownValues(owner);
  return {
    global: valuesOf(GLOBAL_SECTION),
    own: valuesOf(name),
    globalConfig: store.globalConfigValues() ?? null,
    ownConfig: store.moduleConfigValues(name) ?? null,
  };
}

/**
 * The values that a hook or the enabled script of a module sees.
 *
 * @param enabledModules shown as `global.enabledModules`: for a hook all enabled modules in run order, for the enabled
 *   script those found enabled before it
 * @throws OperatorError SECRET_MISSING for a required reference without a text
 */
export function visibleToModule(
  store: ValuesStore,
  name: ModuleName,
  enabledModules: readonly ModuleName[],
  secrets: SecretsUse = 'required',
): VisibleValues {
  const { global, own, globalConfig, ownConfig } = sectionsVisibleToModule(store, name, secrets);
  return {
    values: withGlobal({ ...global, enabledModules: [...enabledModules] }, name, own),
    configValues: withGlobal(globalConfig, name, ownConfig),
  };
}

/** The values for helm: the merged ones, without the list of enabled modules. */
export function visibleToHelm(store: ValuesStore, name: ModuleName): JsonObject {
  return withGlobal(store.globalValues(), name, store.moduleValues(name));
}

function withGlobal(global: Json, name: ModuleName, section: Json): JsonObject {
  return { [GLOBAL_SECTION]: global, [keyOfName(name)]: section };
}
