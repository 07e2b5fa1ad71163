import type { Json, JsonObject } from '@addon-operator/json';

/** A module whose values could be edited: its section of the ConfigMap, its values, and what the ConfigMap says now. */
export interface EditableModule {
  readonly name: string;
  readonly section: string;
  readonly values: JsonObject;
  readonly configValues: JsonObject;
}

/** One value to change, and what the module's section of the ConfigMap is then. */
export interface EditSuggestion {
  readonly module: string;
  readonly section: string;
  readonly key: string;
  readonly value: Json;
  readonly sectionValues: JsonObject;
}

/**
 * A change of a value that shows: a number goes up by one, `replicas` before any other; without a number a text is
 * replaced. Undefined when no module has a plain value at the top of its section.
 */
export function suggestEdit(modules: readonly EditableModule[]): EditSuggestion | undefined {
  const candidates = modules.flatMap((module) =>
    Object.entries(module.values).map(([key, value]) => ({ module, key, value })),
  );
  const chosen =
    candidates.find(({ key, value }) => key === 'replicas' && Number.isSafeInteger(value)) ??
    candidates.find(({ value }) => Number.isSafeInteger(value)) ??
    candidates.find(({ value }) => typeof value === 'string');
  if (chosen === undefined) return undefined;
  const { module, key } = chosen;
  const value = typeof chosen.value === 'number' ? chosen.value + 1 : 'edited by hand';
  return {
    module: module.name,
    section: module.section,
    key,
    value,
    sectionValues: { ...module.configValues, [key]: value },
  };
}
