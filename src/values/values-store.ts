import { messageOf, OperatorError } from '../lib/errors.ts';
import { canonicalJson, type Json, type JsonObject } from '../lib/json.ts';
import { applyPatch } from './apply-patch.ts';
import { valuesChecksum } from './checksum.ts';
import { type ConfigMapContent, EMPTY_CONTENT, sectionIn, withSection } from './config-map-content.ts';
import { mergeValues } from './merge.ts';
import { GLOBAL_SECTION, type ModuleName, sectionOf, type ValuesOwner } from './module-key.ts';
import { foldPatch, type PatchList } from './patch-list.ts';
import { patchSection, sectionAfter } from './patch-section.ts';
import type { PatchOperation } from './values-patch.ts';

/** What the files in the modules directories say. */
export interface StaticValues {
  readonly global: JsonObject;
  /** One for every known module. */
  readonly modules: ReadonlyMap<ModuleName, JsonObject>;
}

/** What one hook run wants to change in the values of its owner, and in the owner's section of the ConfigMap. */
export interface HookPatches {
  readonly config: readonly PatchOperation[];
  readonly values: readonly PatchOperation[];
}

/**
 * The values of everybody: static values, on top of them what the ConfigMap says, on top of that what hooks patched in
 * memory. Only what differs is kept; merged values are computed when asked for. Values handed out are never changed
 * later and must not be changed by the reader.
 *
 * Methods take effect at once and whole or not at all, so two hooks in two queues patch one after the other.
 */
export class ValuesStore {
  #static: StaticValues;
  #config: ConfigMapContent = EMPTY_CONTENT;
  readonly #patches = new Map<ValuesOwner, PatchList>();

  constructor(staticValues: StaticValues) {
    this.#static = staticValues;
  }

  globalValues(): JsonObject {
    return this.values(GLOBAL_SECTION);
  }

  /** The `global` section of the ConfigMap; undefined if there is none. */
  globalConfigValues(): JsonObject | undefined {
    return this.configValues(GLOBAL_SECTION);
  }

  /** @throws OperatorError INTERNAL when there is no such module */
  moduleValues(name: ModuleName): JsonObject {
    return this.values(name);
  }

  /** The module's section of the ConfigMap; undefined if there is none. */
  moduleConfigValues(name: ModuleName): JsonObject | undefined {
    return this.configValues(name);
  }

  /** Merged values of one owner, at least `{}`. */
  values(owner: ValuesOwner): JsonObject {
    return this.#merge(owner, this.#config, this.#patches.get(owner) ?? []);
  }

  configValues(owner: ValuesOwner): JsonObject | undefined {
    return sectionIn(this.#config, sectionOf(owner));
  }

  /** Equal for equal merged values: compared before and after a hook run to see whether it changed anything. */
  checksum(owner: ValuesOwner): string {
    return valuesChecksum(this.values(owner));
  }

  /** Takes over what the files say now; for development, where they change under a running daemon. */
  setStatic(staticValues: StaticValues): void {
    this.#static = staticValues;
  }

  /**
   * Takes over what the ConfigMap says now.
   *
   * @throws OperatorError VALUES_INVALID when a stored patch does not apply any more; everything stays as it was then
   */
  setConfig(content: ConfigMapContent): void {
    for (const owner of this.#owners()) this.#merge(owner, content, this.#patches.get(owner) ?? []);
    this.#config = content;
  }

  /**
   * Takes over one section, as it was saved for a hook.
   *
   * @throws OperatorError VALUES_INVALID as {@link setConfig} does
   */
  setConfigSection(owner: ValuesOwner, section: JsonObject): void {
    const content = withSection(this.#config, sectionOf(owner), section);
    this.#merge(owner, content, this.#patches.get(owner) ?? []);
    this.#config = content;
  }

  /**
   * Whether both patches of a hook run would apply, one after the other, as they would be committed. Nothing changes.
   *
   * @throws OperatorError VALUES_PATCH_INVALID for the first operation that does not
   */
  checkPatches(owner: ValuesOwner, patches: HookPatches): void {
    const section = this.patchedConfig(owner, patches.config);
    this.#patchMerged(owner, withSection(this.#config, sectionOf(owner), section), patches.values);
  }

  /**
   * The owner's config section with the operations applied; nothing is stored.
   *
   * @throws OperatorError VALUES_PATCH_INVALID for the first operation that does not apply
   */
  patchedConfig(owner: ValuesOwner, operations: readonly PatchOperation[]): JsonObject {
    const section = this.configValues(owner) ?? {};
    return patchSection(owner, section, operations, 'config values');
  }

  /**
   * Applies operations to the merged values and keeps them in memory. Returns whether the values are different now;
   * if they are not, nothing is kept.
   *
   * @throws OperatorError VALUES_PATCH_INVALID for the first operation that does not apply; nothing is kept then
   */
  applyPatch(owner: ValuesOwner, operations: readonly PatchOperation[]): boolean {
    const patches = this.#patchMerged(owner, this.#config, operations);
    if (patches === undefined) return false;
    this.#patches.set(owner, patches);
    return true;
  }

  /** Drops what hooks patched, as when the module is deleted. */
  forgetPatches(name: ModuleName): void {
    this.#patches.set(name, []);
  }

  /** Stored patches as the debug routes show them: null before the first patch. */
  patchesDump(owner: ValuesOwner): Json {
    const patches = this.#patches.get(owner);
    if (patches === undefined) return null;
    return patches.map((operation) => ({ Operations: [{ ...operation }] }));
  }

  /** The list to store after new operations, checked to give values; undefined if they change nothing. */
  #patchMerged(
    owner: ValuesOwner,
    config: ConfigMapContent,
    operations: readonly PatchOperation[],
  ): PatchList | undefined {
    const stored = this.#patches.get(owner) ?? [];
    const before = this.#merge(owner, config, stored);
    const after = patchSection(owner, before, operations, 'values');
    if (canonicalJson(after) === canonicalJson(before)) return undefined;
    const patches = foldPatch(stored, operations);
    this.#merge(owner, config, patches);
    return patches;
  }

  #merge(owner: ValuesOwner, config: ConfigMapContent, patches: PatchList): JsonObject {
    const section = sectionOf(owner);
    const merged = mergeValues(this.#staticValues(owner), sectionIn(config, section) ?? {});
    try {
      return sectionAfter(applyPatch({ [section]: merged }, patches, 'tolerant'), section);
    } catch (cause) {
      throw new OperatorError(
        'VALUES_INVALID',
        `cannot apply the stored patches of hooks to the values of '${owner}': ${messageOf(cause)}`,
        { cause },
      );
    }
  }

  #staticValues(owner: ValuesOwner): JsonObject {
    if (owner === GLOBAL_SECTION) return this.#static.global;
    const values = this.#static.modules.get(owner);
    if (values === undefined) throw new OperatorError('INTERNAL', `there is no module '${owner}'`);
    return values;
  }

  #owners(): ValuesOwner[] {
    return [GLOBAL_SECTION, ...this.#static.modules.keys()];
  }
}
