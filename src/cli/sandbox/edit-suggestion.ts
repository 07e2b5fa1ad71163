import type { Json, JsonObject } from '@addon-operator/json';

/** A module whose values could be edited: its section of the ConfigMap, its values, and what the ConfigMap says now. */
export interface EditableModule {
  readonly name: string;
  readonly section: string;
  readonly values: JsonObject;
  readonly configValues: JsonObject;
  /** The values that its schema lists for a key; empty if it lists none. */
  readonly choices: (key: string) => readonly Json[];
  /** Whether its schema takes such a section of the ConfigMap. */
  readonly accepts: (section: JsonObject) => boolean;
}

/** One value to change, and what the module's section of the ConfigMap is then. */
export interface EditSuggestion {
  readonly module: string;
  readonly section: string;
  readonly key: string;
  readonly value: Json;
  readonly sectionValues: JsonObject;
}

interface Candidate {
  readonly module: EditableModule;
  readonly key: string;
  readonly value: Json;
}

/**
 * A change of a value that shows, and that the schema of the module takes: a number goes up by one, or down, `replicas`
 * before any other; without a number a text is replaced, by another one that the schema lists if it does. Undefined when
 * there is none.
 */
export function suggestEdit(modules: readonly EditableModule[]): EditSuggestion | undefined {
  const candidates = modules.flatMap((module) =>
    Object.entries(module.values).map(([key, value]): Candidate => ({ module, key, value })),
  );
  const isNumber = ({ value }: Candidate): boolean => Number.isSafeInteger(value);
  const ordered = new Set([
    ...candidates.filter((one) => one.key === 'replicas' && isNumber(one)),
    ...candidates.filter(isNumber),
    ...candidates.filter(({ value }) => typeof value === 'string'),
  ]);
  for (const candidate of ordered) {
    const edit = acceptedEdit(candidate);
    if (edit !== undefined) return edit;
  }
  return undefined;
}

function acceptedEdit({ module, key, value: before }: Candidate): EditSuggestion | undefined {
  for (const value of changesOf(before, module.choices(key))) {
    const sectionValues = { ...module.configValues, [key]: value };
    if (!module.accepts(sectionValues)) continue;
    return { module: module.name, section: module.section, key, value, sectionValues };
  }
  return undefined;
}

function changesOf(before: Json, choices: readonly Json[]): readonly Json[] {
  const others = choices.filter((choice) => choice !== before && typeof choice === typeof before);
  if (others.length > 0) return others;
  return typeof before === 'number' ? [before + 1, before - 1] : ['edited by hand'];
}
