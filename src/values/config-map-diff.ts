import { canonicalJson, type JsonObject } from '../lib/json.ts';
import type { ConfigMapContent } from './config-map-content.ts';
import type { ModuleKey } from './module-key.ts';

/** What differs between two contents, in meaning and not in spelling. Keys are sorted. */
export interface ConfigDifference {
  readonly isGlobalChanged: boolean;
  /** Modules whose section was added, changed or removed. */
  readonly sections: readonly ModuleKey[];
  /** Modules whose `<key>Enabled` was added, changed or removed. */
  readonly flags: readonly ModuleKey[];
  /** Modules whose `<key>Maintenance` was set or taken away. */
  readonly maintenance: readonly ModuleKey[];
}

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
