import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { mapParallel } from '@addon-operator/base/map-parallel';
import { isMissingFile } from '@addon-operator/base/missing-file';
import type { JsonObject } from '@addon-operator/json';
import { mergeValues } from '@addon-operator/json/merge';
import type { ModuleGate } from '@addon-operator/module-authorization/module-gate';
import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
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
import {
  flagOfFile,
  loadModule,
  readSchemas,
  readValuesFile,
  refusedModule,
  sectionOfFile,
  type ValuesFile,
} from './load-module.ts';
import type { Module } from './module.ts';
import { parseDirectoryName } from './module-name.ts';
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
  readonly log: Logger;
}

/** All that the modules directories say. */
export interface FoundModules {
  /** In run order. */
  readonly modules: readonly Module[];
  /** `<key>Enabled` of the common values.yaml files, later directories win. */
  readonly commonFlags: ReadonlyMap<ModuleKey, boolean>;
  /** The file of each of them. */
  readonly commonFlagFiles: ReadonlyMap<ModuleKey, string>;
  readonly staticValues: StaticValues;
  /** What is in each modules directory, modules that another one has registered before included. */
  readonly directories: readonly { readonly path: string; readonly modules: readonly ModuleName[] }[];
}

/**
 * Finds and reads all modules, at the start and when files change; nothing is executed. Which of them are enabled is decided
 * later, by `module-discovery.ts`. A module is each sub-directory, or symbolic link to a directory, whose name does not start with a
 * dot.
 *
 * @throws OperatorError MODULE_INVALID for a directory that does not exist, a name that cannot be a module's, a
 *   link that leads out of a module, a module.yaml that cannot be used or modules that require one another in a cycle, VALUES_INVALID for a values.yaml or a schema that cannot be used
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
  let global: JsonObject = {};
  for (const dir of options.dirs.map((dir) => resolve(dir))) {
    const common = await readCommonValues(dir, options);
    global = mergeValues(global, sectionOfFile(common, GLOBAL_SECTION));
    for (const [key, flag] of flagsOf(common)) {
      commonFlags.set(key, flag);
      commonFlagFiles.set(key, common.path);
    }
    const fresh: ModulePlace[] = [];
    const found = await modulePlaces(dir, options);
    directories.push({ path: dir, modules: found.map(({ name }) => name) });
    for (const place of found) {
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
  const sorted = inRunOrder(modules);
  const sections = new Map(sorted.map(({ name, staticValues }) => [name, staticValues]));
  const check = new SchemaCheck();
  const authorized = sorted.filter(({ refusal }) => refusal === undefined);
  const schemas = new Map<ValuesOwner, SectionSchemas>(
    await mapParallel(
      authorized,
      READS_AT_ONCE,
      async ({ name, path }) => [name, await readSchemas(path, check)] as const,
    ),
  );
  if (options.globalHooksDir !== undefined)
    schemas.set(GLOBAL_SECTION, await readSchemas(resolve(options.globalHooksDir), check));
  return {
    modules: sorted,
    commonFlags,
    commonFlagFiles,
    directories,
    staticValues: { global, modules: sections, schemas },
  };
}

async function readCommonValues(dir: string, { isStrict, log }: FindModulesOptions): Promise<ValuesFile> {
  const stats = await stat(dir).catch((cause: unknown) => {
    throw new OperatorError(
      'MODULE_INVALID',
      isMissingFile(cause)
        ? `path '${dir}' does not exist`
        : `cannot read modules directory '${dir}': ${messageOf(cause)}`,
      { cause },
    );
  });
  if (!stats.isDirectory()) throw new OperatorError('MODULE_INVALID', `path '${dir}' is not a directory`);
  return readValuesFile(join(dir, VALUES_FILE), isStrict, log);
}

function* flagsOf(common: ValuesFile): Generator<readonly [ModuleKey, boolean]> {
  for (const name of Object.keys(common.values)) {
    if (!name.endsWith(FLAG_SUFFIX)) continue;
    const flag = flagOfFile(common, name);
    const key = asModuleKey(name.slice(0, -FLAG_SUFFIX.length));
    if (key !== undefined && flag !== undefined) yield [key, flag];
  }
}

async function load(
  place: ModulePlace,
  common: ValuesFile,
  { gate, isStrict, allowsLinksOutside = false, log }: FindModulesOptions,
): Promise<Module> {
  if (gate === undefined) {
    if (!allowsLinksOutside) refuseOutsideLinks(place.name, place.path);
    return loadModule(place, common, isStrict, log);
  }
  const { path: source } = place;
  const admission = await gate.admit(place.name, source);
  switch (admission.type) {
    case 'refused':
      return refusedModule(place, common, admission.reason);
    case 'admitted':
      return { ...(await loadModule({ ...place, path: admission.path }, common, isStrict, log)), source };
  }
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

/** The file beside modules that is none. */
const VALUES_FILE = 'values.yaml';

/** Where a module lies, and what the name of its directory says. */
type ModulePlace = Pick<Module, 'name' | 'order' | 'path'>;

/**
 * The modules in a directory, in the order of their directories' names; nothing in them is looked at.
 *
 * @throws OperatorError MODULE_INVALID for a name that cannot be a module's
 */
export async function modulePlaces(
  dir: string,
  { defaultOrder, log }: { readonly defaultOrder: number; readonly log: Logger },
): Promise<readonly ModulePlace[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const places: ModulePlace[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === VALUES_FILE) continue;
    const path = await moduleDirectory(dir, entry, log);
    if (path === undefined) continue;
    const { name, order = defaultOrder } = parseName(entry.name, dir);
    places.push({ name, order, path });
  }
  return places;
}

/** The real path of a module; undefined, with a warning, for everything that is no directory. */
async function moduleDirectory(dir: string, entry: Dirent, log: Logger): Promise<string | undefined> {
  const path = join(dir, entry.name);
  if (entry.isDirectory()) return path;
  if (!entry.isSymbolicLink()) {
    log.warn({ path }, 'not a directory, so not a module: ignored');
    return undefined;
  }
  try {
    const target = await realpath(path);
    if ((await stat(target)).isDirectory()) return target;
    log.warn({ path, target }, 'Symlink target is not a directory. Ignoring module');
  } catch (error) {
    if (!isMissingFile(error)) {
      throw new OperatorError('MODULE_INVALID', `cannot follow symlink '${path}': ${messageOf(error)}`, {
        cause: error,
      });
    }
    log.warn({ path }, 'Symlink target does not exist. Ignoring module');
  }
  return undefined;
}

function parseName(directoryName: string, dir: string): ReturnType<typeof parseDirectoryName> {
  try {
    return parseDirectoryName(directoryName);
  } catch (cause) {
    throw new OperatorError('MODULE_INVALID', `${join(dir, directoryName)}: ${messageOf(cause)}`, { cause });
  }
}
