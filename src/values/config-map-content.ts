import type { JsonObject } from '../lib/json.ts';
import { GLOBAL_SECTION, type ModuleKey, type SectionKey } from './module-key.ts';

/** The ConfigMap as it is understood. */
export interface ConfigMapContent {
  readonly global: JsonObject | undefined;
  readonly sections: ReadonlyMap<ModuleKey, JsonObject>;
  /** `<key>Enabled` flags. */
  readonly flags: ReadonlyMap<ModuleKey, boolean>;
  /** Keys of modules whose resources are not to be reconciled (`<key>Maintenance`). */
  readonly maintenance: ReadonlySet<ModuleKey>;
}

/** What an absent or empty ConfigMap means. */
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
