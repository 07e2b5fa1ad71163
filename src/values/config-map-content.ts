/**
 * Parses `data` of the operator's ConfigMap into sections, flags and maintenance marks, and compares two parsed
 * contents. Everything here is pure: `config-map-store.ts` decides when to read and what a change means. A content is
 * valid as a whole or not at all, and the error lists every problem, so that a user can correct them together.
 */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { canonicalJson, type JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { parseYaml } from '@addon-operator/yaml';
import { asModuleKey, GLOBAL_SECTION, type ModuleKey, nameOfKey, type SectionKey } from './module-key.ts';

/** The ConfigMap as it is understood. */
export interface ConfigMapContent {
  readonly global: JsonObject | undefined;
  readonly sections: ReadonlyMap<ModuleKey, JsonObject>;
  /** `<key>Enabled` flags. */
  readonly flags: ReadonlyMap<ModuleKey, boolean>;
  /** Keys of modules whose resources are not to be reconciled (`<key>Maintenance`). */
  readonly maintenance: ReadonlySet<ModuleKey>;
}

/** The content of an absent or empty ConfigMap. */
export const EMPTY_CONTENT: ConfigMapContent = {
  global: undefined,
  sections: new Map(),
  flags: new Map(),
  maintenance: new Set(),
};

/** One section of the content; undefined if it is absent. */
export function sectionIn(content: ConfigMapContent, key: SectionKey): JsonObject | undefined {
  return key === GLOBAL_SECTION ? content.global : content.sections.get(key);
}

/** The content with one section set. */
export function withSection(
  content: ConfigMapContent,
  key: SectionKey,
  section: JsonObject,
): ConfigMapContent {
  if (key === GLOBAL_SECTION) return { ...content, global: section };
  return { ...content, sections: new Map([...content.sections, [key, section]]) };
}

/** Keys of the content that belong to none of the known modules, sorted. */
export function unknownModuleKeys(content: ConfigMapContent, known: ReadonlySet<ModuleKey>): ModuleKey[] {
  const keys = new Set([...content.sections.keys(), ...content.flags.keys(), ...content.maintenance]);
  return [...keys].filter((key) => !known.has(key)).toSorted();
}

/**
 * Understands the `data` of the ConfigMap, all of it or nothing.
 *
 * @param onMoreDocuments called with each section that has YAML documents after the first one, which are ignored
 * @throws OperatorError CONFIG_MAP_INVALID listing every problem
 */
export function parseConfigMapData(
  data: Readonly<Record<string, string>>,
  onMoreDocuments: (key: SectionKey) => void = () => undefined,
): ConfigMapContent {
  let global: JsonObject | undefined;
  const sections = new Map<ModuleKey, JsonObject>();
  const flags = new Map<ModuleKey, boolean>();
  const maintenance = new Set<ModuleKey>();
  const problems: string[] = [];
  for (const [dataKey, content] of Object.entries(data)) {
    try {
      const entry = parseKey(dataKey);
      switch (entry.type) {
        case 'section':
          if (entry.key === GLOBAL_SECTION) global = parseSection(entry.key, content, onMoreDocuments);
          else sections.set(entry.key, parseSection(entry.key, content, onMoreDocuments));
          break;
        case 'flag':
          flags.set(entry.key, parseFlag(dataKey, content));
          break;
        case 'maintenance':
          if (parseMaintenance(dataKey, content)) maintenance.add(entry.key);
          break;
      }
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  if (problems.length > 0) throw new OperatorError('CONFIG_MAP_INVALID', problems.join('\n'));
  return { global, sections, flags, maintenance };
}

/**
 * Understands the text of one section. In `global` an empty text is an empty map.
 *
 * @param onMoreDocuments called with the section when documents follow the first one
 * @throws OperatorError CONFIG_MAP_INVALID when it is anything but a map
 */
export function parseSection(
  key: SectionKey,
  content: string,
  onMoreDocuments: (key: SectionKey) => void = () => undefined,
): JsonObject {
  // The original parses `global` with a YAML 1.1 parser (`yes` is true there) and modules with a YAML 1.2 parser.
  const isGlobal = key === GLOBAL_SECTION;
  try {
    const source = `ConfigMap key '${key}'`;
    const { value, hasMoreDocuments } = parseYaml(content, {
      source,
      booleans: isGlobal ? 'yaml-1.1' : 'yaml-1.2',
    });
    if (hasMoreDocuments) onMoreDocuments(key);
    if (isGlobal && value === null) return {};
    if (isJsonMap(value)) return value;
    const found = Array.isArray(value) ? 'a list' : value === null ? 'nothing' : `a ${typeof value}`;
    throw new OperatorError('CONFIG_MAP_INVALID', `${source}: expected a map, got ${found}`);
  } catch (error) {
    const what = isGlobal
      ? `ConfigMap: bad yaml at key '${key}'`
      : `bad yaml at key '${key}': load '${nameOfKey(key)}' values`;
    throw new OperatorError('CONFIG_MAP_INVALID', `${what}: ${messageOf(error)}`, { cause: error });
  }
}

type DataKey =
  | { readonly type: 'section'; readonly key: SectionKey }
  | { readonly type: 'flag' | 'maintenance'; readonly key: ModuleKey };

/** With the flag `s`, since a key with a line break must get the error for bad names too. */
const SUFFIXED = /^(?<base>.*)(?<suffix>Enabled|Maintenance)$/s;

function parseKey(dataKey: string): DataKey {
  if (dataKey === GLOBAL_SECTION) return { type: 'section', key: GLOBAL_SECTION };
  const groups = SUFFIXED.exec(dataKey)?.groups;
  const base = groups?.['base'] ?? dataKey;
  const key = asModuleKey(base);
  if (key === undefined) {
    throw new OperatorError('CONFIG_MAP_INVALID', `bad module name '${base}': should be camelCased`);
  }
  if (groups === undefined) return { type: 'section', key };
  return { type: groups['suffix'] === 'Enabled' ? 'flag' : 'maintenance', key };
}

function parseFlag(dataKey: string, content: string): boolean {
  if (content === 'true') return true;
  if (content === 'false') return false;
  throw new OperatorError(
    'CONFIG_MAP_INVALID',
    `module enabled key '${dataKey}' should have a boolean value, got '${content}'`,
  );
}

function parseMaintenance(dataKey: string, content: string): boolean {
  if (content === '') return false;
  if (content === 'NoResourceReconciliation' || content === 'noresourcereconciliation') return true;
  throw new OperatorError(
    'CONFIG_MAP_INVALID',
    `module maintenanceState key '${dataKey}' can only take the value NoResourceReconciliation or be empty`,
  );
}

/** The differences between two contents, in meaning and not in spelling. Keys are sorted. */
export interface ConfigDifference {
  readonly isGlobalChanged: boolean;
  /** Modules whose section was added, changed or removed. */
  readonly sections: readonly ModuleKey[];
  /** Modules whose `<key>Enabled` was added, changed or removed. */
  readonly flags: readonly ModuleKey[];
  /** Modules whose `<key>Maintenance` was set or taken away. */
  readonly maintenance: readonly ModuleKey[];
}

/** Compares by meaning: the order of keys, YAML style and comments make no difference. */
export function configDifference(previous: ConfigMapContent, next: ConfigMapContent): ConfigDifference {
  const previousMaintenance = new Map([...previous.maintenance].map((key) => [key, true]));
  const nextMaintenance = new Map([...next.maintenance].map((key) => [key, true]));
  return {
    isGlobalChanged: !isSameSection(previous.global, next.global),
    sections: changedKeys(previous.sections, next.sections, isSameSection),
    flags: changedKeys(previous.flags, next.flags, Object.is),
    maintenance: changedKeys(previousMaintenance, nextMaintenance, Object.is),
  };
}

export function isEmptyDifference(difference: ConfigDifference): boolean {
  const { isGlobalChanged, sections, flags, maintenance } = difference;
  return !isGlobalChanged && sections.length + flags.length + maintenance.length === 0;
}

function changedKeys<T>(
  previous: ReadonlyMap<ModuleKey, T>,
  next: ReadonlyMap<ModuleKey, T>,
  isSame: (a: T | undefined, b: T | undefined) => boolean,
): ModuleKey[] {
  const keys = new Set([...previous.keys(), ...next.keys()]);
  return [...keys].filter((key) => !isSame(previous.get(key), next.get(key))).toSorted();
}

function isSameSection(a: JsonObject | undefined, b: JsonObject | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}
