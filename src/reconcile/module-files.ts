import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import type { ModuleGate } from '../authorization/module-gate.ts';
import type { DeliveredModules } from '../delivery/delivered-modules.ts';
import { createFlowHooks, type FlowHooksOptions } from '../extensions/flow/create-flow-hooks.ts';
import type { FlowPassDeps } from '../extensions/flow/flow-pass.ts';
import { type LoneModule, onlyFilesOf } from '../model/lone-module.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleReading, ReadAgainOptions } from '../model/services.ts';
import { allModulesDirs, type ModuleStore } from '../module-store/module-store.ts';
import { COMMON_VALUES } from '../modules/file-set.ts';
import { type FoundModules, findModules } from '../modules/find-modules.ts';
import type { Module } from '../modules/module.ts';
import type { CandidateVersion } from '../modules/modules-directory.ts';
import { inRunOrder } from '../modules/run-order.ts';
import type { DaemonSettings } from '../settings/daemon-settings.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import type { HelmSettings } from '../settings/helm-settings.ts';
import type { ModuleSettings } from '../settings/module-settings.ts';
import { GLOBAL_SECTION, type ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { type HeldModulesFacts, withHeld } from './held-modules.ts';
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
  readonly gate: (ModuleGate & { settle(used: ReadonlySet<string>): Promise<void> }) | undefined;
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
  /** The module store; absent without one. */
  readonly store?:
    | Pick<ModuleStore, 'contains' | 'currentDir' | 'problemOf' | 'removedModules' | 'versionOf'>
    | undefined;
  /** Modules of sources; absent without a module store. */
  readonly delivered?: DeliveredModules | undefined;
  /** Set for `addon-operator dev` of one module; absent otherwise. */
  readonly lone?: LoneModule | undefined;
}

/** The parts that are updated when modules are taken over. */
export interface ReloadParts {
  readonly moduleHooks: { forget(): void };
  readonly values: Pick<ValuesStore, 'setStatic'>;
  readonly followSecrets: () => Promise<void>;
  readonly registry: Pick<ModuleRegistry, 'setModules' | 'enabled'>;
}

/**
 * The content of the modules directories as it was read last, with the flow hooks in them. Read
 * once at the start; `readAgain` reads modules whose files are lost, back, switched or, in
 * development, changed. Its caller decides which of them are taken over.
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
    const facts = { ...(await heldFacts(options)), stored: storedBefore(options) };
    const found = withHeld(await findAll(options, { enabled: [] }), facts);
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
   * Reads modules again. A module that is gone by accident is in the result, refused.
   *
   * @throws OperatorError
   */
  async readAgain(parts: ReloadParts, { only, candidates }: ReadAgainOptions = {}): Promise<ModuleReading> {
    const { registry } = parts;
    const { enabled } = registry;
    const { lostDirs } = this.#found;
    const { store } = this.#options;
    // A directory that is back also brings values and flags, so everything is read.
    const isPart =
      only !== undefined &&
      [...lostDirs.keys()].every((dir) => dir === store?.currentDir) &&
      !this.#lacksCommonValues(only);
    const before = this.#found;
    const read = await findAll(this.#options, {
      enabled,
      isLook: only !== undefined,
      only: isPart ? only : undefined,
      candidates,
    });
    const isNamed = ({ name }: Module): boolean => !isPart || only.has(name);
    // Compared with the old content before that is replaced.
    const all = withHeld(read, {
      ...(await heldFacts(this.#options)),
      before: before.modules.filter(isNamed),
      values: before.staticValues,
      enabled,
    });
    const modules = new Map(all.modules.map((module) => [module.name, module]));
    const names = new Set([...before.modules.filter(isNamed).map(({ name }) => name), ...modules.keys()]);
    return {
      modules,
      names,
      staticValues: withModules(before, all, names, isPart).staticValues,
      prepare: (taken) => this.#prepare(withModules(this.#found, all, taken, isPart), parts),
    };
  }

  async #prepare(
    found: FoundModules,
    { moduleHooks, values, followSecrets, registry }: ReloadParts,
  ): Promise<() => Promise<void>> {
    const { crds, gate } = this.#options;
    await crds.read(found.modules);
    const flow = await flowOf(this.#options, found.modules);
    return async () => {
      moduleHooks.forget();
      this.#flow = flow;
      this.#found = found;
      values.setStatic(found.staticValues);
      await followSecrets();
      registry.setModules(found.modules);
      await gate?.settle(new Set(found.modules.map(({ path }) => path)));
    };
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

/** The holds of modules at a start: no module is known yet. */
async function heldFacts({ settings, store, delivered }: ModuleFilesOptions): Promise<HeldModulesFacts> {
  const removed = [...((await store?.removedModules()) ?? [])];
  return {
    before: [],
    values: { global: {}, modules: new Map() },
    enabled: [],
    // A link that is gone is no decision about an installed module: it is set again.
    removed: new Set(removed.filter((name) => delivered?.isInstalled(name) !== true)),
    unavailable: delivered?.unavailable() ?? new Map(),
    currentDir: store?.currentDir ?? '',
    settings,
  };
}

/** The modules of the store that ran before, with the names of their entries. */
function storedBefore({ memory, store }: ModuleFilesOptions): ReadonlyMap<string, string> {
  if (store === undefined) return new Map();
  const entries = memory.names.map((name) => [name, memory.filesOf(name)?.stored] as const);
  return new Map(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Limits of a search for modules. */
interface Search {
  /** Modules that are enabled now. */
  readonly enabled: readonly ModuleName[];
  readonly only?: ReadonlySet<string> | undefined;
  readonly candidates?: readonly CandidateVersion[] | undefined;
  /**
   * Whether no user saved files: lost files are an accident then, and their modules are held.
   * Default false.
   */
  readonly isLook?: boolean;
}

/** Reads the modules directories. With `only`, other modules are not read. */
async function findAll(
  { settings, host, gate, lone, memory, ownedReleases, store, delivered, stop }: ModuleFilesOptions,
  { enabled, only, candidates, isLook = false }: Search,
): Promise<FoundModules> {
  // Requested at most once, and only if some files are missing.
  let known: Promise<ReadonlySet<string>> | undefined;
  const away = delivered?.unavailable().keys() ?? [];
  const knownNames = async () =>
    new Set([...memory.names, ...enabled, ...away, ...(await ownedReleases(stop))]);
  const read = await findModules({
    dirs: allModulesDirs(settings),
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
    candidates,
    store,
    log: componentLog(host, 'modules'),
  });
  const found = { ...read, modules: withReadableSchedules(read.modules) };
  return lone === undefined ? found : onlyFilesOf(lone, found);
}

/**
 * The earlier content, with some modules replaced by what was read; those that were not found are
 * removed.
 *
 * @param isPart whether only modules were read; what belongs to all of them stays then
 */
function withModules(
  before: FoundModules,
  read: FoundModules,
  names: ReadonlySet<ModuleName>,
  isPart: boolean,
): FoundModules {
  const isNamed = (name: string): boolean => names.has(name as ModuleName);
  const merged = <K extends string, V>(from: ReadonlyMap<K, V>, to: ReadonlyMap<K, V>) =>
    new Map([
      ...[...from].filter(([name]) => !isNamed(name)),
      ...[...to].filter(([name]) => isNamed(name) || (name === GLOBAL_SECTION && !isPart)),
    ]);
  const base = isPart ? before : read;
  const schemas = merged(before.staticValues.schemas ?? new Map(), read.staticValues.schemas ?? new Map());
  return {
    ...base,
    directories: read.directories,
    lostDirs: read.lostDirs,
    modules: inRunOrder([
      ...before.modules.filter(({ name }) => !isNamed(name)),
      ...read.modules.filter(({ name }) => isNamed(name)),
    ]),
    staticValues: {
      ...base.staticValues,
      modules: merged(before.staticValues.modules, read.staticValues.modules),
      schemas,
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
