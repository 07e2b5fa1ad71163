// Finds and reads the modules in the modules directories. `reconcile/module-files.ts` calls it at
// the start and for each reload; `modules-directory.ts` lists the places, `load-module.ts` reads
// one module. The most important rule: a module that was there before and cannot be read now is
// held, never treated as deleted, because a volume that is not mounted looks the same.

import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { isMissingFile } from '@addon-operator/files/missing-file';
import type { JsonObject } from '@addon-operator/json';
import { mergeValues } from '@addon-operator/json/merge';
import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import type { ModuleGate } from '../authorization/module-gate.ts';
import {
  asModuleKey,
  GLOBAL_SECTION,
  type ModuleKey,
  type ModuleName,
  type ValuesOwner,
} from '../values/module-key.ts';
import type { SectionSchemas } from '../values/section-schemas.ts';
import { FLAG_SUFFIX } from '../values/values-patch.ts';
import type { StaticValues } from '../values/values-store.ts';
import { COMMON_VALUES, type FileRecord, lostEntries, type ModuleEntry, readDigests } from './file-set.ts';
import {
  flagOfFile,
  invalidFile,
  loadModule,
  readSchemas,
  readValuesFile,
  refusedModule,
  sectionOfFile,
  type ValuesFile,
} from './load-module.ts';
import type { GoneRefusal, Module, Refusal } from './module.ts';
import {
  type CandidateVersion,
  candidatePlace,
  type DirectoryEntry,
  isPlace,
  logNotice,
  type ModulePlace,
  modulePlaces,
  VALUES_FILE,
} from './modules-directory.ts';
import { refuseOutsideLinks } from './outside-links.ts';
import { inRunOrder } from './run-order.ts';

/** Reading files is mostly waiting, so several modules are read at once. */
const READS_AT_ONCE = 8;

export interface FindModulesOptions {
  /**
   * Modules directories, relative ones from the working directory. If two modules have the same
   * name, the first one wins.
   */
  readonly dirs: readonly string[];
  /** Order of modules without a number in their directory's name. */
  readonly defaultOrder: number;
  /** Every modules directory and module must have a values.yaml. */
  readonly isStrict: boolean;
  /** The directory with the schemas of the section `global`, in `openapi/`. */
  readonly globalHooksDir?: string;
  /** Decides which modules may be used; default: all. */
  readonly gate?: ModuleGate | undefined;
  /**
   * Whether links may lead out of their module. Default false. A gate refuses such links in any
   * case.
   */
  readonly allowsLinksOutside?: boolean;
  /** Default: no module existed before, so lost files are not looked for. */
  readonly before?: KnownModules;
  /** Names of the modules that are read; default: all. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Versions that are read in place of the entries of the same modules. */
  readonly candidates?: readonly CandidateVersion[] | undefined;
  /** Directories whose content is known as a whole; default: none. */
  readonly store?: CheckedContents | undefined;
  /** Whether an unreadable modules directory counts as empty. Default false: it ends the search. */
  readonly toleratesLostDirs?: boolean;
  /**
   * Whether invalid files refuse only their module. Default false: only module.yaml does, other
   * files end the search.
   */
  readonly isolatesInvalid?: boolean;
  readonly log: Logger;
}

/**
 * Facts from earlier runs, with which a module whose files cannot be read is held instead of
 * deleted.
 */
export interface KnownModules {
  /** Names of modules that are enabled, have a release, or were run. Called only if an entry cannot be read. */
  known(): Promise<ReadonlySet<string>>;
  /** The files of a module at its last run; undefined if unknown. */
  filesOf(module: ModuleName): FileRecord | undefined;
}

/** Directories whose content is checked as a whole, so that no file is missed one by one. */
export interface CheckedContents {
  /** @param path without symbolic links */
  contains(path: string): boolean;
  /** Why the content must not be used, as a sentence without subject; undefined if it may. */
  problemOf(path: string): Promise<string | undefined>;
  /** The version with which the content was added, which is that of its files unless its author named another. */
  versionOf(path: string): Promise<string | undefined>;
}

/** The command with which a user confirms that files were removed on purpose. */
export const CONFIRM_FILES_COMMAND = 'addon-operator module confirm-files';

/** A modules directory without modules and values.yaml, or one that is missing or unreadable. */
export type LostDirectory = 'empty' | 'unreadable';

/** The content of all modules directories. */
export interface FoundModules {
  /** In run order. */
  readonly modules: readonly Module[];
  /** `<key>Enabled` of the common values.yaml files, later directories win. */
  readonly commonFlags: ReadonlyMap<ModuleKey, boolean>;
  /** The file of each of them. */
  readonly commonFlagFiles: ReadonlyMap<ModuleKey, string>;
  readonly staticValues: StaticValues;
  /** Modules directories in which nothing can be read. */
  readonly lostDirs: ReadonlyMap<string, LostDirectory>;
  /**
   * The modules in each directory, including those that an earlier directory has registered
   * already.
   */
  readonly directories: readonly { readonly path: string; readonly modules: readonly ModuleName[] }[];
}

/**
 * Finds and reads all modules, at the start and when files change; nothing is executed.
 * `module-discovery.ts` decides later which are enabled. Modules with lost files or an invalid
 * module.yaml are in the result, with the reason why they do not run.
 *
 * @throws OperatorError MODULE_INVALID for a missing modules directory, an invalid name, a link out
 *   of a module, or a cycle of requirements (with `isolatesInvalid` the modules are refused
 *   instead); VALUES_INVALID for an invalid values.yaml or schema
 */
export async function findModules(options: FindModulesOptions): Promise<FoundModules> {
  const { log } = options;
  if (options.dirs.length === 0) log.warn({}, 'no modules directory is set: there are no modules');
  const modules: Module[] = [];
  const places = new Map<ModuleName, ModulePlace>();
  const commonFlags = new Map<ModuleKey, boolean>();
  const commonFlagFiles = new Map<ModuleKey, string>();
  const directories: { readonly path: string; readonly modules: readonly ModuleName[] }[] = [];
  const lostDirs = new Map<string, LostDirectory>();
  let global: JsonObject = {};
  for (const dir of options.dirs.map((dir) => resolve(dir))) {
    const unreadable = await problemOfDirectory(dir);
    if (unreadable !== undefined && options.toleratesLostDirs === true) {
      lostDirs.set(dir, 'unreadable');
      directories.push({ path: dir, modules: [] });
      continue;
    }
    if (unreadable !== undefined) throw unreadable;
    const common = await readValuesFile(join(dir, VALUES_FILE), options.isStrict, log);
    global = mergeValues(global, sectionOfFile(common, GLOBAL_SECTION));
    for (const [key, flag] of flagsOf(common)) {
      commonFlags.set(key, flag);
      commonFlagFiles.set(key, common.path);
    }
    const fresh: ModulePlace[] = [];
    const found = await usedPlaces(await placesIn(dir, options), options);
    directories.push({ path: dir, modules: found.map(({ name }) => name) });
    if (found.length === 0 && common.text === undefined) lostDirs.set(dir, 'empty');
    for (const place of found) {
      if (options.only?.has(place.name) === false) continue;
      const first = places.get(place.name);
      if (first !== undefined) {
        warnAboutDuplicate(place, first, log);
        continue;
      }
      places.set(place.name, place);
      fresh.push(place);
    }
    // A gate copies whole directories, so modules are loaded one after another.
    const atOnce = options.gate === undefined ? READS_AT_ONCE : 1;
    modules.push(...(await mapParallel(fresh, atOnce, (place) => load(place, common, options))));
  }
  const check = new SchemaCheck();
  const schemas = new Map<ValuesOwner, SectionSchemas>();
  const ordered = inRunOrder(modules);
  refuseCycles(ordered, options);
  const sorted = await mapParallel(ordered, READS_AT_ONCE, async (module) => {
    // Schemas of a cycle are read too: its modules may run after another module has changed.
    if (module.refusal !== undefined && module.refusal.type !== 'cycle') return module;
    try {
      schemas.set(module.name, await readSchemas(module.path, check));
      return module;
    } catch (error) {
      return { ...module, refusal: invalid(error, options) };
    }
  });
  const sections = new Map(sorted.map(({ name, staticValues }) => [name, staticValues]));
  if (options.globalHooksDir !== undefined)
    schemas.set(GLOBAL_SECTION, await readSchemas(resolve(options.globalHooksDir), check));
  return {
    modules: sorted,
    commonFlags,
    commonFlagFiles,
    lostDirs,
    directories,
    staticValues: { global, modules: sections, schemas },
  };
}

/** Why a modules directory cannot be read; undefined if it can. */
async function problemOfDirectory(dir: string): Promise<OperatorError | undefined> {
  try {
    if ((await stat(dir)).isDirectory()) return undefined;
    return new OperatorError('MODULE_INVALID', `path '${dir}' is not a directory`);
  } catch (cause) {
    const message = isMissingFile(cause)
      ? `path '${dir}' does not exist`
      : `cannot read modules directory '${dir}': ${messageOf(cause)}`;
    return new OperatorError('MODULE_INVALID', message, { cause });
  }
}

/** The entries of a modules directory, with candidates in place of those of the same modules. */
async function placesIn(dir: string, options: FindModulesOptions): Promise<readonly DirectoryEntry[]> {
  const places = await modulePlaces(dir, options);
  const own = (options.candidates ?? []).filter(({ entry }) => dirname(entry) === dir);
  if (own.length === 0) return places;
  const candidates = await Promise.all(own.map((candidate) => candidatePlace(candidate, options)));
  const names = new Set(candidates.map(({ name }) => name));
  return [...places.filter((place) => !isPlace(place) || !names.has(place.name)), ...candidates];
}

function* flagsOf(common: ValuesFile): Generator<readonly [ModuleKey, boolean]> {
  for (const name of Object.keys(common.values)) {
    if (!name.endsWith(FLAG_SUFFIX)) continue;
    const flag = flagOfFile(common, name);
    const key = asModuleKey(name.slice(0, -FLAG_SUFFIX.length));
    if (key !== undefined && flag !== undefined) yield [key, flag];
  }
}

/** Drops entries that are no modules, and logs them. */
async function usedPlaces(
  places: readonly DirectoryEntry[],
  { before, log }: FindModulesOptions,
): Promise<readonly ModulePlace[]> {
  // Known modules are requested from the cluster only if an entry cannot be read.
  const isReadable = places.every(({ content }) => content.type === 'module');
  const known = isReadable ? undefined : await before?.known();
  return places.filter((place): place is ModulePlace => {
    if (isPlace(place) && (place.content.type !== 'unreadable' || known?.has(place.name) === true))
      return true;
    logNotice(place.entry, place.content, log);
    return false;
  });
}

async function load(place: ModulePlace, common: ValuesFile, options: FindModulesOptions): Promise<Module> {
  const { gate, isStrict, allowsLinksOutside = false, before, log } = options;
  const isChecked = options.store?.contains(place.path) === true;
  const problem = isChecked ? await options.store?.problemOf(place.path) : undefined;
  const lost =
    problem === undefined ? await lostDirectory(place, before) : goneDirectory(place.entry, problem);
  if (lost !== undefined) return refusedModule({ ...place, path: place.entry }, common, lost);
  const { entry, path } = place;
  const found = { ...place, ...(entry !== path && { link: entry }), entries: entriesOf(place, common) };
  try {
    if (gate === undefined) {
      if (!allowsLinksOutside) refuseOutsideLinks(place.name, place.path);
      const module = await loadModule(found, common, isStrict, log);
      return isChecked ? await stored(module, place, options) : await withLostFiles(module, before);
    }
    const { path: source } = place;
    const admission = await gate.admit(place.name, source, place.isReturn);
    switch (admission.type) {
      case 'refused':
        return refusedModule(place, common, { type: 'unauthorized', reason: admission.reason });
      case 'admitted': {
        const loaded = await loadModule({ ...found, path: admission.path }, common, isStrict, log);
        const module = { ...loaded, source };
        return isChecked ? await stored(module, place, options) : await withLostFiles(module, before);
      }
    }
  } catch (error) {
    return refusedModule(place, common, invalid(error, options));
  }
}

/** A module of the store has the version with which it was published. */
async function stored(module: Module, { path }: ModulePlace, { store }: FindModulesOptions): Promise<Module> {
  return { ...module, isStored: true, version: (await store?.versionOf(path)) ?? module.version };
}

function entriesOf({ content }: ModulePlace, common: ValuesFile): readonly ModuleEntry[] {
  const own = content.type === 'module' ? content.entries : [];
  return common.text === undefined ? own : [...own, COMMON_VALUES];
}

/**
 * An empty directory counts as lost only if a module was there before: otherwise its author may be
 * about to fill it.
 */
async function lostDirectory(
  { name, entry, content }: ModulePlace,
  before: KnownModules | undefined,
): Promise<Refusal | undefined> {
  if (content.type === 'module' || before === undefined) return undefined;
  if (!(await before.known()).has(name)) return undefined;
  return goneDirectory(entry, content.problem);
}

/** The refusal of a deployed module whose entry is no module's directory any more. */
export function goneDirectory(entry: string, problem: string): GoneRefusal {
  return {
    type: 'gone',
    lost: 'directory',
    reason: `its directory ${entry} ${problem}`,
    remedy: `restore ${entry}, then the module continues by itself; to remove the module, delete ${entry} and restart the operator`,
  };
}

async function withLostFiles(module: Module, before: KnownModules | undefined): Promise<Module> {
  const files = before?.filesOf(module.name);
  if (files === undefined || module.refusal !== undefined) return module;
  const { path, source = path, name, entries = [] } = module;
  const recorded = [...files.entries, ...(files.before?.entries ?? [])];
  if (recorded.every((entry) => entries.some((each) => each === entry))) return module;
  // Unreadable files must not count as a new version of the module.
  const digests = await readDigests(path).catch(() => []);
  const lost = lostEntries(files, { entries, digests }).join(' and ');
  if (lost === '') return module;
  const refusal: Refusal = {
    type: 'gone',
    lost: 'files',
    reason: `${lost} of ${source} was there when it was last run and is missing or empty, while its other files are as they were`,
    remedy: `restore ${lost} in ${source}, or confirm that it was removed on purpose: \`${CONFIRM_FILES_COMMAND} ${name}\``,
  };
  return { ...module, refusal };
}

/**
 * @throws OperatorError MODULE_INVALID if a cycle of requirements ends the search for all modules
 */
function refuseCycles(modules: readonly Module[], { isolatesInvalid = false }: FindModulesOptions): void {
  if (isolatesInvalid) return;
  for (const { refusal } of modules)
    if (refusal?.type === 'cycle')
      throw new OperatorError('MODULE_INVALID', `${refusal.reason}; ${refusal.remedy}`);
}

/** @throws the error if it ends the search for all modules */
function invalid(error: unknown, { isolatesInvalid = false }: FindModulesOptions): Refusal {
  if (!isolatesInvalid || !(error instanceof OperatorError)) throw error;
  return invalidFile(error);
}

function warnAboutDuplicate(module: ModulePlace, first: ModulePlace, log: Logger): void {
  log.warn(
    {
      module: module.name,
      path: module.path,
      registered: first.path,
      fix: 'remove or rename one of the two directories',
    },
    'module is not registered, because it has a duplicate',
  );
}
