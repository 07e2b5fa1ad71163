/**
 * The single source of values. Three layers go in: values files, the ConfigMap, and the JSON patches of hooks, which are
 * kept in memory only. Merged values come out for hooks, enabled scripts and helm. Config changes (`operator/`) and the
 * outputs of hooks (`hook-runs/apply-outputs.ts`) are the only writers. A write that would break a schema, or a stored
 * patch, is refused as a whole, so a reader never sees half a change.
 */

import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { canonicalJson, type Json, type JsonObject } from '@addon-operator/json';
import { mergeValues } from '@addon-operator/json/merge';
import { problemList } from '@addon-operator/value-schemas/value-problem';
import type { ValuesSchema } from '@addon-operator/value-schemas/values-schema';
import { applyPatch } from './apply-patch.ts';
import { type ConfigMapContent, EMPTY_CONTENT, sectionIn, withSection } from './config-map-content.ts';
import { valuesChecksum } from './json-values.ts';
import { GLOBAL_SECTION, type ModuleName, sectionOf, type ValuesOwner } from './module-key.ts';
import {
  referencesIn,
  resolveSecrets,
  type SecretLookup,
  type Unresolved,
} from './secrets/resolve-secrets.ts';
import type { SecretReference } from './secrets/secret-reference.ts';
import { foldPatch, type PatchList, patchSection, sectionAfter } from './section-patch.ts';
import type { SectionSchemas } from './section-schemas.ts';
import type { ValuesOperation } from './values-patch.ts';

/** Values from the files in the modules directories. */
export interface StaticValues {
  readonly global: JsonObject;
  /** One for every known module. */
  readonly modules: ReadonlyMap<ModuleName, JsonObject>;
  /** Of those owners that have any. */
  readonly schemas?: ReadonlyMap<ValuesOwner, SectionSchemas>;
}

/** References to Secrets in values. */
export interface ValuesSecrets extends SecretLookup {
  /** Whether references in files and in the ConfigMap mean anything for this owner; else they are plain data. */
  readonly isResolvedFor: (owner: ValuesOwner) => boolean;
}

/**
 * How references to Secrets appear: `resolved`, as the content of the Secret, and left out if there is none; `written`,
 * as in the files and the ConfigMap.
 */
type SecretsView = 'resolved' | 'written';

/** Changes of one hook run to the values of its owner and to the owner's section of the ConfigMap. */
export interface HookPatches {
  readonly config: readonly ValuesOperation[];
  readonly values: readonly ValuesOperation[];
}

/**
 * All values: static values, over them the ConfigMap, over it the patches of hooks, kept in
 * memory; defaults of schemas fill what none of them sets. Returned values never change later, must not be changed by the caller,
 * and are the same object again as long as nothing has changed, unless they contain Secrets.
 *
 * Methods take effect at once and whole or not at all, so two hooks in two queues patch one after the other.
 */
export class ValuesStore {
  #static: StaticValues;
  #config: ConfigMapContent = EMPTY_CONTENT;
  readonly #patches = new Map<ValuesOwner, PatchList>();
  readonly #secrets: ValuesSecrets | undefined;
  readonly #merged = new Map<ValuesOwner, MergedValues>();

  constructor(staticValues: StaticValues, secrets?: ValuesSecrets) {
    this.#static = staticValues;
    this.#secrets = secrets;
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

  /**
   * Merged values of one owner, at least `{}`, with the texts of Secrets.
   *
   * @throws OperatorError SECRET_MISSING naming each reference without a text
   */
  values(owner: ValuesOwner): JsonObject {
    const missing = this.#unresolved(owner);
    if (missing.length > 0) throw new OperatorError('SECRET_MISSING', missingText(owner, missing));
    return this.knownValues(owner);
  }

  /** As {@link values}, but references without a text are left out. */
  knownValues(owner: ValuesOwner): JsonObject {
    const patches = this.#patches.get(owner) ?? NO_PATCHES;
    const [config, files] = [this.#config, this.#static];
    // Merging every time keeps secrets out of the cache.
    // The content of a Secret may have changed since.
    if (this.#secrets?.isResolvedFor(owner) === true) return this.#merge(owner, config, patches);
    const known = this.#merged.get(owner);
    if (known?.config === config && known.files === files && known.patches === patches) return known.values;
    const values = this.#merge(owner, config, patches);
    this.#merged.set(owner, { values, config, files, patches });
    return values;
  }

  /** As {@link values}, but with references as they are written: for showing. */
  writtenValues(owner: ValuesOwner): JsonObject {
    return this.#merge(owner, this.#config, this.#patches.get(owner) ?? [], 'written');
  }

  /** References to Secrets by owner, with this content of the ConfigMap in place of the present one. */
  secretReferences(
    content: ConfigMapContent = this.#config,
  ): ReadonlyMap<ValuesOwner, readonly SecretReference[]> {
    const secrets = this.#secrets;
    if (secrets === undefined) return new Map();
    const owners = this.#owners().filter((owner) => secrets.isResolvedFor(owner));
    return new Map(
      owners.map((owner) => [owner, referencesIn(this.#layers(owner, content), secrets.namespace)]),
    );
  }

  /** Where references of an owner are looked up; undefined where they are plain data. */
  secretsOf(owner: ValuesOwner): SecretLookup | undefined {
    return this.#secrets?.isResolvedFor(owner) === true ? this.#secrets : undefined;
  }

  configValues(owner: ValuesOwner): JsonObject | undefined {
    return sectionIn(this.#config, sectionOf(owner));
  }

  /** Values from files for one owner. @throws OperatorError INTERNAL when there is no such module */
  fileValues(owner: ValuesOwner): JsonObject {
    if (owner === GLOBAL_SECTION) return this.#static.global;
    const values = this.#static.modules.get(owner);
    if (values === undefined) throw new OperatorError('INTERNAL', `no module '${owner}'`);
    return values;
  }

  /** Equal for equal merged values: compared before and after a hook run to see whether it changed anything. */
  checksum(owner: ValuesOwner): string {
    return valuesChecksum(this.knownValues(owner));
  }

  /** Takes over the current files; for development, where they change while the daemon runs. */
  setStatic(staticValues: StaticValues): void {
    this.#static = staticValues;
  }

  /**
   * A copy with other files, and the patches of hooks as they are now, to try a version of a module.
   *
   * @param section replaces the section of `owner` in the ConfigMap; undefined: it stays
   */
  withFiles(files: StaticValues, owner: ModuleName, section: JsonObject | undefined): ValuesStore {
    const copy = new ValuesStore(files, this.#secrets);
    const key = sectionOf(owner);
    copy.#config = section === undefined ? this.#config : withSection(this.#config, key, section);
    for (const [name, patches] of this.#patches) copy.#patches.set(name, patches);
    return copy;
  }

  /**
   * Takes over the current content of the ConfigMap.
   *
   * @param isInUse whether a module's section has to match its schema; an empty section need not
   * @throws OperatorError VALUES_INVALID listing every section that does not match its schema, or when a stored patch
   *   does not apply any more; everything stays as it was then
   */
  setConfig(content: ConfigMapContent, isInUse: (module: ModuleName) => boolean = () => true): void {
    this.checkConfig(content, isInUse);
    this.#config = content;
  }

  /** Throws what {@link setConfig} would throw; nothing is taken over. */
  checkConfig(content: ConfigMapContent, isInUse: (module: ModuleName) => boolean): void {
    const problems = this.#owners().flatMap((owner) => {
      const section = sectionIn(content, sectionOf(owner));
      if (section === undefined) return [];
      if (owner !== GLOBAL_SECTION && (Object.keys(section).length === 0 || !isInUse(owner))) return [];
      return this.#configProblem(owner, section) ?? [];
    });
    if (problems.length > 0) throw new OperatorError('VALUES_INVALID', problems.join('\n'));
    // Throws if a stored patch does not fit the new content. All owners are tried before anything is taken over.
    for (const owner of this.#owners()) this.#merge(owner, content, this.#patches.get(owner) ?? []);
  }

  /**
   * Checks a section of the ConfigMap before it is written.
   *
   * @throws OperatorError VALUES_INVALID when it does not match its schema
   */
  checkConfigSection(owner: ValuesOwner, section: JsonObject): void {
    const problem = this.#configProblem(owner, section);
    if (problem !== undefined) throw new OperatorError('VALUES_INVALID', problem);
  }

  /** Whether a section of the ConfigMap would be taken over, and the merged values then be good enough for helm. */
  acceptsSection(owner: ValuesOwner, section: JsonObject): boolean {
    try {
      this.checkConfigSection(owner, section);
      const content = withSection(this.#config, sectionOf(owner), section);
      const merged = this.#merge(owner, content, this.patches(owner));
      return problemsOf(this.#schemas(owner).helm, owner, merged).length === 0;
    } catch (error) {
      if (hasCode(error, 'VALUES_INVALID')) return false;
      throw error;
    }
  }

  /** The values that the schemas list for a key of a section; empty if they list none. */
  choices(owner: ValuesOwner, key: string): readonly Json[] {
    const { config, values } = this.#schemas(owner);
    return [...(config?.choices(key) ?? []), ...(values?.choices(key) ?? [])];
  }

  /** A section of the ConfigMap with the defaults of its schema, and with texts of Secrets. */
  sectionWithDefaults(owner: ValuesOwner, section: JsonObject): JsonObject {
    const { config } = this.#schemas(owner);
    return config === undefined ? section : this.#filled(owner, config, section).values;
  }

  /**
   * Checks global values and those of a module as helm is to get them.
   *
   * @param owners whose values are looked at; default: both
   * @throws OperatorError VALUES_INVALID when they do not match what their schemas require for helm
   */
  checkForHelm(name: ModuleName, owners: readonly ValuesOwner[] = [GLOBAL_SECTION, name]): void {
    const problems = owners.flatMap((owner) =>
      problemsOf(this.#schemas(owner).helm, owner, this.values(owner)),
    );
    // A module that hooks enabled was none of those that were looked at when the ConfigMap was taken over.
    const section = this.configValues(name);
    if (section !== undefined && Object.keys(section).length > 0) this.checkConfigSection(name, section);
    if (problems.length > 0)
      throw new OperatorError(
        'VALUES_INVALID',
        `check helm values: ${problemList(problems)}\nopenapi/values.yaml requires this; hooks, the ConfigMap or values files must set required values before helm runs`,
      );
  }

  /**
   * Takes over one section, as it was saved for a hook, after {@link checkConfigSection}.
   *
   * @throws OperatorError VALUES_INVALID when a stored patch does not apply any more; everything stays as it was then
   */
  setConfigSection(owner: ValuesOwner, section: JsonObject): void {
    const content = withSection(this.#config, sectionOf(owner), section);
    this.#merge(owner, content, this.#patches.get(owner) ?? []);
    this.#config = content;
  }

  /**
   * Whether both patches of a hook run would apply, one after the other, as they would be committed. Nothing changes.
   *
   * @throws OperatorError VALUES_PATCH_INVALID for the first operation that does not, VALUES_INVALID when the outcome
   *   does not match its schema
   */
  checkPatches(owner: ValuesOwner, patches: HookPatches): void {
    if (patches.config.length + patches.values.length === 0) return;
    const section = this.patchedConfig(owner, patches.config);
    this.#patchMerged(owner, withSection(this.#config, sectionOf(owner), section), patches.values);
  }

  /**
   * The owner's config section with the operations applied; nothing is stored.
   *
   * @throws OperatorError VALUES_PATCH_INVALID for the first operation that does not apply, VALUES_INVALID when the
   *   section then does not match its schema
   */
  patchedConfig(owner: ValuesOwner, operations: readonly ValuesOperation[]): JsonObject {
    const section = this.configValues(owner) ?? {};
    const patched = patchSection(owner, section, operations, 'config values');
    if (canonicalJson(patched) !== canonicalJson(section)) this.checkConfigSection(owner, patched);
    return patched;
  }

  /**
   * Applies operations to the merged values and keeps them in memory. Returns whether the values are different now;
   * if they are not, nothing is kept.
   *
   * @param hook name of the hook that wrote them
   * @throws OperatorError VALUES_PATCH_INVALID for the first operation that does not apply, VALUES_INVALID when the
   *   values then do not match their schema; nothing is kept then
   */
  applyPatch(owner: ValuesOwner, operations: readonly ValuesOperation[], hook?: string): boolean {
    const named = hook === undefined ? operations : operations.map((operation) => ({ ...operation, hook }));
    const patches = this.#patchMerged(owner, this.#config, named);
    if (patches === undefined) return false;
    this.#patches.set(owner, patches);
    return true;
  }

  /** Drops the patches of hooks, as when the module is deleted. */
  forgetPatches(name: ModuleName): void {
    this.#patches.set(name, []);
  }

  /** The patches of hooks, with the names of the hooks. */
  patches(owner: ValuesOwner): PatchList {
    return this.#patches.get(owner) ?? NO_PATCHES;
  }

  /**
   * Takes over patches from another time. Operations whose target is gone are skipped, as after a change of files.
   *
   * @throws OperatorError VALUES_INVALID when an operation cannot be applied; nothing is kept then
   */
  setPatches(owner: ValuesOwner, patches: PatchList): void {
    this.#merge(owner, this.#config, patches);
    this.#patches.set(owner, patches);
  }

  /** Stored patches as the debug routes show them: null before the first patch. */
  patchesDump(owner: ValuesOwner): Json {
    const patches = this.#patches.get(owner);
    if (patches === undefined) return null;
    return patches.map(({ hook: _hook, ...operation }) => ({ Operations: [operation] }));
  }

  /** The list to store after new operations, checked to give values; undefined if they change nothing. */
  #patchMerged(
    owner: ValuesOwner,
    config: ConfigMapContent,
    operations: Parameters<typeof foldPatch>[1],
  ): PatchList | undefined {
    const stored = this.#patches.get(owner) ?? [];
    // A patch without an effect is not stored: the list would grow with every run of a hook that repeats itself.
    const before = this.#merge(owner, config, stored);
    const after = patchSection(owner, before, operations, 'values');
    if (canonicalJson(after) === canonicalJson(before)) return undefined;
    const patches = foldPatch(stored, operations);
    const values = this.#merge(owner, config, patches);
    // The values before the patch are passed too, for rules of the schema that compare old and new values.
    const problems = problemsOf(this.#schemas(owner).values, owner, values, before);
    if (problems.length > 0) {
      const whose = owner === GLOBAL_SECTION ? 'global values' : 'module values';
      const what = `cannot apply values patch for ${whose}`;
      const why =
        'openapi/values.yaml requires this of all values together: those of files and the ConfigMap as well as those of the patch';
      throw new OperatorError('VALUES_INVALID', `${what}: ${problemList(problems)}\n${why}`);
    }
    return patches;
  }

  #configProblem(owner: ValuesOwner, section: JsonObject): string | undefined {
    const { config } = this.#schemas(owner);
    if (config === undefined) return undefined;
    const { values, unresolved } = this.#filled(owner, config, section);
    const inForce = this.configValues(owner);
    const problems = config.problems(sectionOf(owner), values, {
      previous: inForce && this.#filled(owner, config, inForce).values,
      unknown: unresolved.map(({ pointer }) => pointer),
    });
    if (problems.length === 0) return undefined;
    const whose = owner === GLOBAL_SECTION ? 'global values' : `values of module '${owner}'`;
    return `${whose} in the ConfigMap do not match openapi/config-values.yaml: ${problemList(problems)}`;
  }

  /** A section with defaults and texts of Secrets, null for those that are not known. */
  #filled(owner: ValuesOwner, config: ValuesSchema, section: JsonObject) {
    const filled = config.withDefaults(section);
    if (this.#secrets?.isResolvedFor(owner) !== true) return { values: filled, unresolved: [] };
    return resolveSecrets(filled, this.#secrets, 'null');
  }

  #merge(
    owner: ValuesOwner,
    config: ConfigMapContent,
    patches: PatchList,
    view: SecretsView = 'resolved',
  ): JsonObject {
    const section = sectionOf(owner);
    const layers = this.#layers(owner, config);
    const isResolved = view === 'resolved' && this.#secrets?.isResolvedFor(owner) === true;
    const merged =
      isResolved && this.#secrets !== undefined
        ? resolveSecrets(layers, this.#secrets, 'absent').values
        : layers;
    try {
      // Tolerant: what a stored `remove` refers to may be gone from the files or the ConfigMap since.
      return sectionAfter(applyPatch({ [section]: merged }, patches, 'tolerant'), section);
    } catch (cause) {
      throw new OperatorError(
        'VALUES_INVALID',
        `cannot apply the stored patches of hooks to the values of '${owner}': ${messageOf(cause)}. ` +
          'Restore what they need, let hooks set complete lists and maps, or restart the operator, which discards the patches of hooks',
        { cause },
      );
    }
  }

  /** Everything but the patches of hooks. */
  #layers(owner: ValuesOwner, config: ConfigMapContent): JsonObject {
    const schemas = this.#schemas(owner);
    // Defaults of the config schema are weaker than the ConfigMap, those of the values schema fill what is left.
    const base = withDefaults(schemas.config, this.fileValues(owner));
    return withDefaults(schemas.values, mergeValues(base, sectionIn(config, sectionOf(owner)) ?? {}));
  }

  #unresolved(owner: ValuesOwner): readonly Unresolved[] {
    if (this.#secrets?.isResolvedFor(owner) !== true) return [];
    return resolveSecrets(this.#layers(owner, this.#config), this.#secrets, 'absent').unresolved;
  }

  #schemas(owner: ValuesOwner): SectionSchemas {
    return this.#static.schemas?.get(owner) ?? NO_SCHEMAS;
  }

  #owners(): ValuesOwner[] {
    return [GLOBAL_SECTION, ...this.#static.modules.keys()];
  }
}

/** Merged values, and what they were made from. */
interface MergedValues {
  readonly values: JsonObject;
  readonly config: ConfigMapContent;
  readonly files: StaticValues;
  readonly patches: PatchList;
}

const NO_PATCHES: PatchList = [];
const NO_SCHEMAS: SectionSchemas = {};

function withDefaults(schema: ValuesSchema | undefined, values: JsonObject): JsonObject {
  return schema === undefined ? values : schema.withDefaults(values);
}

function missingText(owner: ValuesOwner, missing: readonly Unresolved[]): string {
  const whose = owner === GLOBAL_SECTION ? 'global values' : `values of module '${owner}'`;
  const list = missing.map(
    ({ pointer, why }) => `at ${sectionOf(owner)}${pointer.replaceAll('/', '.')}: ${why}`,
  );
  return `${whose} refer to Secrets that cannot be used: ${list.join('; ')}`;
}

function problemsOf(
  schema: ValuesSchema | undefined,
  owner: ValuesOwner,
  values: JsonObject,
  previous?: JsonObject,
): readonly string[] {
  return schema === undefined ? [] : schema.problems(sectionOf(owner), values, { previous, unknown: [] });
}
