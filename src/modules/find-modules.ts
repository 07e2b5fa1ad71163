import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
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
import { COMMON_VALUES, type FileSet, lostEntries, type ModuleEntry, readDigests } from './file-set.ts';
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
  type DirectoryEntry,
  isPlace,
  logNotice,
  type ModulePlace,
  modulePlaces,
  VALUES_FILE,
} from './modules-directory.ts';
import { refuseOutsideLinks } from './outside-links.ts';
import { inRunOrder } from './run-order.ts';

/** Reading files is mostly waiting. */
const READS_AT_ONCE = 8;

export interface FindModulesOptions {
  /** Modules directories, relative ones from the working directory. On equal module names the first one wins. */
  readonly dirs: readonly string[];
  /** Order of modules without a number in their directory's name. */
  readonly defaultOrder: number;
  /** Every modules directory and module must have a values.yaml. */
  readonly isStrict: boolean;
  /** Where the schemas of the section `global` lie, in `openapi/`. */
  readonly globalHooksDir?: string;
  /** Without it all modules may be used. */
  readonly gate?: ModuleGate | undefined;
  /** Whether links in modules may lead out of them. Default false. A gate refuses such links in any case. */
  readonly allowsLinksOutside?: boolean;
  /** Default: no module was there before, so that what is gone is not looked for. */
  readonly before?: KnownModules;
  /** Names of the modules that are read; default: all. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Whether a modules directory that cannot be read counts as one without modules. Default false: it ends the search. */
  readonly toleratesLostDirs?: boolean;
  /** Whether files that cannot be used refuse their module alone. Default false: only module.yaml does, others end the search. */
  readonly isolatesInvalid?: boolean;
  readonly log: Logger;
}

/** What is known of modules from earlier, so that one whose files cannot be read is held and not taken for deleted. */
export interface KnownModules {
  /** Names of modules that are enabled, have a release, or were run. Called only if an entry cannot be read. */
  known(): Promise<ReadonlySet<string>>;
  /** The files that a module had when it was last run; undefined if that is not known. */
  filesOf(module: ModuleName): FileSet | undefined;
}

/** How a person says that files were removed on purpose. */
export const CONFIRM_FILES_COMMAND = 'addon-operator module confirm-files';

/** A modules directory without modules and values.yaml, or one that does not exist or cannot be read. */
export type LostDirectory = 'empty' | 'unreadable';

/** All that the modules directories say. */
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
  /** What is in each modules directory, modules that another one has registered before included. */
  readonly directories: readonly { readonly path: string; readonly modules: readonly ModuleName[] }[];
}

/**
 * Finds and reads all modules, at the start and when files change; nothing is executed. Which of them are enabled is decided
 * later, by `module-discovery.ts`. A module whose directory or files are lost, or whose module.yaml cannot be used, is
 * among the result with the reason why it is not run.
 *
 * @throws OperatorError MODULE_INVALID for a modules directory that does not exist, a name that cannot be a module's, a
 *   link that leads out of a module, or modules that require one another in a cycle, which with `isolatesInvalid` are
 *   refused; VALUES_INVALID for a values.yaml or a schema that cannot be used
 */
export async function findModules(options: FindModulesOptions): Promise<FoundModules> {
  const { log } = options;
  if (options.dirs.length === 0) log.warn({}, 'no modules directory is set: there are no modules');
  options.gate?.begin();
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
    const found = await usedPlaces(await modulePlaces(dir, options), options);
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
    // A gate copies whole directories: one after another.
    const atOnce = options.gate === undefined ? READS_AT_ONCE : 1;
    modules.push(...(await mapParallel(fresh, atOnce, (place) => load(place, common, options))));
  }
  const check = new SchemaCheck();
  const schemas = new Map<ValuesOwner, SectionSchemas>();
  const ordered = inRunOrder(modules);
  refuseCycles(ordered, options);
  const sorted = await mapParallel(ordered, READS_AT_ONCE, async (module) => {
    // Without being read again, a module of a cycle runs when another one has changed.
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
    const text = isMissingFile(cause)
      ? `path '${dir}' does not exist`
      : `cannot read modules directory '${dir}': ${messageOf(cause)}`;
    return new OperatorError('MODULE_INVALID', text, { cause });
  }
}

function* flagsOf(common: ValuesFile): Generator<readonly [ModuleKey, boolean]> {
  for (const name of Object.keys(common.values)) {
    if (!name.endsWith(FLAG_SUFFIX)) continue;
    const flag = flagOfFile(common, name);
    const key = asModuleKey(name.slice(0, -FLAG_SUFFIX.length));
    if (key !== undefined && flag !== undefined) yield [key, flag];
  }
}

/** Leaves out entries that are no modules, and says so. */
async function usedPlaces(
  places: readonly DirectoryEntry[],
  { before, log }: FindModulesOptions,
): Promise<readonly ModulePlace[]> {
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
  const lost = await lostDirectory(place, before);
  if (lost !== undefined) return refusedModule({ ...place, path: place.entry }, common, lost);
  const { entry, path } = place;
  const found = { ...place, ...(entry !== path && { link: entry }), entries: entriesOf(place, common) };
  try {
    if (gate === undefined) {
      if (!allowsLinksOutside) refuseOutsideLinks(place.name, place.path);
      return await withLostFiles(await loadModule(found, common, isStrict, log), before);
    }
    const { path: source } = place;
    const admission = await gate.admit(place.name, source);
    switch (admission.type) {
      case 'refused':
        return refusedModule(place, common, { type: 'unauthorized', reason: admission.reason });
      case 'admitted': {
        const module = await loadModule({ ...found, path: admission.path }, common, isStrict, log);
        return await withLostFiles({ ...module, source }, before);
      }
    }
  } catch (error) {
    return refusedModule(place, common, invalid(error, options));
  }
}

function entriesOf({ content }: ModulePlace, common: ValuesFile): readonly ModuleEntry[] {
  const own = content.type === 'module' ? content.entries : [];
  return common.text === undefined ? own : [...own, COMMON_VALUES];
}

/** An empty directory counts only where a module was before: its author may be about to fill it. */
async function lostDirectory(
  { name, entry, content }: ModulePlace,
  before: KnownModules | undefined,
): Promise<Refusal | undefined> {
  if (content.type === 'module' || before === undefined) return undefined;
  if (!(await before.known()).has(name)) return undefined;
  return goneDirectory(entry, content.problem);
}

/** The refusal of a module that was deployed from an entry which is no directory of a module any more. */
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
  if (files.entries.every((entry) => entries.some((each) => each === entry))) return module;
  // Files that cannot be read are no new version.
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

/** @throws OperatorError MODULE_INVALID where a cycle of requirements ends the search for all modules */
function refuseCycles(modules: readonly Module[], { isolatesInvalid = false }: FindModulesOptions): void {
  if (isolatesInvalid) return;
  for (const { refusal } of modules)
    if (refusal?.type === 'cycle')
      throw new OperatorError('MODULE_INVALID', `${refusal.reason}; ${refusal.remedy}`);
}

/** @throws the error where it ends the search for all modules */
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
