import type { Json, JsonObject } from '../lib/json.ts';
import { GLOBAL_SECTION, keyOfName, type ModuleName } from './module-key.ts';
import type { ValuesStore } from './values-store.ts';

/** Contents of the two files a hook or script can read. */
export interface VisibleValues {
  /** For `VALUES_PATH`: everything merged. */
  readonly values: JsonObject;
  /** For `CONFIG_VALUES_PATH`: only what the ConfigMap says; a section it does not have is null. */
  readonly configValues: JsonObject;
}

/** What a global hook sees. */
export function visibleToGlobalHook(store: ValuesStore): VisibleValues {
  return {
    values: { [GLOBAL_SECTION]: store.globalValues() },
    configValues: { [GLOBAL_SECTION]: store.globalConfigValues() ?? null },
  };
}

/**
 * What a hook or the enabled script of a module sees.
 *
 * @param enabledModules shown as `global.enabledModules`: for a hook all enabled modules in run order, for the enabled
 *   script those found enabled before it
 */
export function visibleToModule(
  store: ValuesStore,
  name: ModuleName,
  enabledModules: readonly ModuleName[],
): VisibleValues {
  const global: JsonObject = { ...store.globalValues(), enabledModules: [...enabledModules] };
  return {
    values: withGlobal(global, name, store.moduleValues(name)),
    configValues: withGlobal(
      store.globalConfigValues() ?? null,
      name,
      store.moduleConfigValues(name) ?? null,
    ),
  };
}

/** What helm gets: the merged values, without the list of enabled modules. */
export function visibleToHelm(store: ValuesStore, name: ModuleName): JsonObject {
  return withGlobal(store.globalValues(), name, store.moduleValues(name));
}

function withGlobal(global: Json, name: ModuleName, section: Json): JsonObject {
  return { [GLOBAL_SECTION]: global, [keyOfName(name)]: section };
}
