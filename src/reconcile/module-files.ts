import { dirname } from 'node:path';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import type { ModuleGate } from '../authorization/module-gate.ts';
import { createFlowHooks, type FlowHooksOptions } from '../extensions/flow/create-flow-hooks.ts';
import type { FlowPassDeps } from '../extensions/flow/flow-pass.ts';
import { type LoneModule, onlyFilesOf } from '../model/lone-module.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { areMostGone } from '../model/purge-guard.ts';
import { COMMON_VALUES } from '../modules/file-set.ts';
import { type FoundModules, findModules } from '../modules/find-modules.ts';
import { entryOf, type Module } from '../modules/module.ts';
import { inRunOrder } from '../modules/run-order.ts';
import type { DaemonSettings } from '../settings/daemon-settings.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import type { HelmSettings } from '../settings/helm-settings.ts';
import type { ModuleSettings } from '../settings/module-settings.ts';
import type { ModuleName, ValuesOwner } from '../values/module-key.ts';
import type { SectionSchemas } from '../values/section-schemas.ts';
import type { ValuesStore } from '../values/values-store.ts';
import type { ModuleMemory } from './module-memory.ts';
import { nextReconcile, withReadableSchedules } from './reconcile-schedule.ts';

export interface ModuleFilesOptions {
  readonly settings: FlowHooksOptions['settings'] &
    Omit<DirectorySettings, 'tmpDir'> &
    Pick<ModuleSettings, 'moduleFailurePolicy'> &
    Pick<DaemonSettings, 'watchesFiles'> &
    Pick<HelmSettings, 'allowsEmptyModulesDir'>;
  readonly host: FlowHooksOptions['host'] & { readonly log: Logger };
  readonly extensions: FlowHooksOptions['extensions'];
  /** Undefined when every module may run. */
  readonly gate: (ModuleGate & { settle(): Promise<void> }) | undefined;
  readonly crds: { read(modules: readonly Module[]): Promise<void> };
  /** The record of modules from earlier runs. */
  readonly memory: Pick<ModuleMemory, 'names' | 'filesOf'>;
  /**
   * Names of the releases in the cluster that this operator owns.
   *
   * @throws errors of the API client
   */
  readonly ownedReleases: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly stop: AbortSignal;
  /** Set for `addon-operator dev` of one module; absent otherwise. */
  readonly lone?: LoneModule | undefined;
}

/** The parts that a reload updates. */
export interface ReloadParts {
  readonly moduleHooks: { forget(): void };
  readonly values: Pick<ValuesStore, 'setStatic'>;
  readonly followSecrets: () => Promise<void>;
  readonly registry: Pick<ModuleRegistry, 'setModules' | 'enabled'>;
}

/**
 * The content of the modules directories as it was read last, with the flow hooks in them. Read
 * once at the start; `reload` replaces it when files change in development, or when files of a
 * module are lost or back. A failed reload leaves everything as it was.
 */
export class ModuleFiles {
  readonly #options: ModuleFilesOptions;
  #found: FoundModules;
  #flow: FlowPassDeps | undefined;

  private constructor(options: ModuleFilesOptions, found: FoundModules) {
    this.#options = options;
    this.#found = found;
  }

  /** Reads the modules directories. @throws OperatorError for directories and files that cannot be used */
  static async read(options: ModuleFilesOptions): Promise<ModuleFiles> {
    const found = await findAll(options, { enabled: [] });
    await options.crds.read(found.modules);
    return new ModuleFiles(options, found);
  }

  get found(): FoundModules {
    return this.#found;
  }

  /** Undefined when none is registered, and before {@link loadFlow}. */
  get flow(): FlowPassDeps | undefined {
    return this.#flow;
  }

  hasModule(module: string): boolean {
    return this.#found.modules.some(({ name }) => name === module);
  }

  /** @throws OperatorError EXTENSION_INVALID */
  async loadFlow(): Promise<void> {
    this.#flow = await flowOf(this.#options, this.#found.modules);
  }

  /**
   * Reads modules again. On a failure everything stays as it was, except that a module with lost
   * files is held.
   *
   * @param only names of the modules; default: all modules, and everything else in the modules
   *   directories
   * @throws OperatorError
   */
  async reload(
    { moduleHooks, values, followSecrets, registry }: ReloadParts,
    only?: ReadonlySet<string>,
  ): Promise<void> {
    moduleHooks.forget();
    const { enabled } = registry;
    // A directory that is back also brings values and flags, so everything is read.
    const { lostDirs } = this.#found;
    const isPart =
      only !== undefined &&
      (lostDirs.size === 0 || [...only].every((name) => this.hasModule(name))) &&
      !this.#lacksCommonValues(only);
    const read = await findAll(this.#options, {
      enabled,
      isLook: only !== undefined,
      only: isPart ? only : undefined,
    });
    const next = isPart ? withModules(this.#found, read, only) : read;
    // Compared with the old content before that is replaced.
    const vanished = vanishedModules(this.#found.modules, next, enabled, this.#options.settings);
    const found = withVanished(next, vanished, this.#found.staticValues);
    await this.#options.crds.read(found.modules);
    this.#flow = await flowOf(this.#options, found.modules);
    this.#found = found;
    values.setStatic(found.staticValues);
    await followSecrets();
    registry.setModules(found.modules);
    await this.#options.gate?.settle();
  }

  /**
   * Whether the values.yaml beside modules was lost before its first read: its flags are unknown
   * until then.
   */
  #lacksCommonValues(names: ReadonlySet<string>): boolean {
    const { memory } = this.#options;
    return this.#found.modules.some(
      ({ name, refusal, entries = [] }) =>
        names.has(name) &&
        refusal?.type === 'gone' &&
        !entries.includes(COMMON_VALUES) &&
        memory.filesOf(name)?.entries.includes(COMMON_VALUES) === true,
    );
  }
}

/** Limits of a search for modules. */
interface Search {
  /** Modules that are enabled now. */
  readonly enabled: readonly ModuleName[];
  readonly only?: ReadonlySet<string> | undefined;
  /**
   * Whether no user saved files: lost files are an accident then, and their modules are held.
   * Default false.
   */
  readonly isLook?: boolean;
}

/** Reads the modules directories. With `only`, other modules are not read. */
async function findAll(
  { settings, host, gate, lone, memory, ownedReleases, stop }: ModuleFilesOptions,
  { enabled, only, isLook = false }: Search,
): Promise<FoundModules> {
  // Requested at most once, and only if some files are missing.
  let known: Promise<ReadonlySet<string>> | undefined;
  const knownNames = async () => new Set([...memory.names, ...enabled, ...(await ownedReleases(stop))]);
  const read = await findModules({
    dirs: settings.modulesDirs,
    defaultOrder: settings.unnumberedModulesOrder,
    isStrict: settings.requiresValuesFiles,
    globalHooksDir: settings.globalHooksDir,
    gate,
    allowsLinksOutside: settings.allowsLinksOutside,
    before: {
      known: () => (known ??= knownNames()),
      filesOf: (module) => memory.filesOf(module),
    },
    isolatesInvalid: settings.moduleFailurePolicy === 'isolate' || isLook,
    toleratesLostDirs: isLook,
    only,
    log: componentLog(host, 'modules'),
  });
  const found = { ...read, modules: withReadableSchedules(read.modules) };
  return lone === undefined ? found : onlyFilesOf(lone, found);
}

/**
 * The earlier content, with some modules replaced by what was read; modules that were not found are
 * removed.
 */
function withModules(before: FoundModules, read: FoundModules, names: ReadonlySet<string>): FoundModules {
  const old = new Map(before.modules.map((module) => [module.name, module]));
  // Only lost or recovered modules are taken over, and links with another target.
  const isTaken = ({ name, path, refusal }: Module): boolean =>
    refusal !== undefined || old.get(name)?.refusal !== undefined || old.get(name)?.path !== path;
  const unchanged = new Set<string>(read.modules.filter((each) => !isTaken(each)).map(({ name }) => name));
  const isNamed = (name: string): boolean => names.has(name) && !unchanged.has(name);
  const kept = before.modules.filter(({ name }) => !isNamed(name));
  const { modules, schemas = new Map<ValuesOwner, SectionSchemas>() } = read.staticValues;
  const merged = <K extends string, V>(from: ReadonlyMap<K, V>, to: ReadonlyMap<K, V>) =>
    new Map([...[...from].filter(([name]) => !isNamed(name)), ...[...to].filter(([name]) => isNamed(name))]);
  return {
    ...before,
    directories: read.directories,
    lostDirs: read.lostDirs,
    modules: [...kept, ...read.modules.filter(({ name }) => isNamed(name))],
    staticValues: {
      ...before.staticValues,
      modules: merged(before.staticValues.modules, modules),
      schemas: merged(before.staticValues.schemas ?? new Map(), schemas),
    },
  };
}

/**
 * Enabled modules whose entries have disappeared from the modules directories while the operator
 * runs. With a watch on files that counts as a decision of the author, unless it looks like a lost
 * volume. Without a watch it counts at the next start.
 */
function vanishedModules(
  before: readonly Module[],
  { modules, lostDirs }: FoundModules,
  enabled: readonly ModuleName[],
  { watchesFiles, modulesDirs, allowsEmptyModulesDir }: ModuleFilesOptions['settings'],
): readonly Module[] {
  const there = new Set(modules.map(({ name }) => name));
  const wanted = new Set(enabled);
  const gone = before.filter(({ name }) => wanted.has(name) && !there.has(name));
  const areMost = areMostGone(gone.length, enabled.length);
  // An unmounted volume removes all modules at once.
  const isAccident = (module: Module): boolean => {
    const lost = lostDirs.get(dirname(entryOf(module)));
    return areMost || lost === 'unreadable' || (lost === 'empty' && !allowsEmptyModulesDir);
  };
  return gone
    .filter((module) => !watchesFiles || isAccident(module))
    .map((module) => ({
      ...module,
      refusal: {
        type: 'gone',
        lost: 'directory',
        reason: `its directory ${entryOf(module)} is gone`,
        remedy: `restore it in ${modulesDirs.join(' or ')}, or restart the operator, which removes the releases of modules without a directory`,
      },
    }));
}

/** Adds held modules with their last values, which views still show. */
function withVanished(
  found: FoundModules,
  vanished: readonly Module[],
  before: FoundModules['staticValues'],
): FoundModules {
  const names = vanished.map(({ name }) => name);
  const kept = <V>(of: ReadonlyMap<ValuesOwner, V>): [ModuleName, V][] =>
    names.flatMap((name): [ModuleName, V][] => {
      const value = of.get(name);
      return value === undefined ? [] : [[name, value]];
    });
  const { modules, schemas = new Map<ValuesOwner, SectionSchemas>() } = found.staticValues;
  return {
    ...found,
    modules: inRunOrder([...found.modules, ...vanished]),
    staticValues: {
      ...found.staticValues,
      modules: new Map([...modules, ...kept(before.modules)]),
      schemas: new Map<ValuesOwner, SectionSchemas>([...schemas, ...kept(before.schemas ?? new Map())]),
    },
  };
}

/** Loads the flow hooks, whose built-in ones depend on the modules. */
async function flowOf(
  { settings, host, extensions, stop }: ModuleFilesOptions,
  modules: readonly Module[],
): Promise<FlowPassDeps | undefined> {
  return await createFlowHooks({ settings, host, extensions, nextReconcile }, modules, stop);
}
