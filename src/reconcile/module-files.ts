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
  /** What is known of modules from earlier runs. */
  readonly memory: Pick<ModuleMemory, 'names' | 'filesOf'>;
  /** Names of the releases in the cluster that are owned by this operator. @throws what the API client throws */
  readonly ownedReleases: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly stop: AbortSignal;
  /** Absent where all modules count. */
  readonly lone?: LoneModule | undefined;
}

/** What follows a reload of files. */
export interface ReloadParts {
  readonly moduleHooks: { forget(): void };
  readonly values: Pick<ValuesStore, 'setStatic'>;
  readonly followSecrets: () => Promise<void>;
  readonly registry: Pick<ModuleRegistry, 'setModules' | 'enabled'>;
}

/** What was read of the modules directories last, and flow hooks with it. */
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
   * Reads modules again. What cannot be read leaves everything as it was, except that a module whose files are lost is
   * held.
   *
   * @param only names of the modules; default: all, and whatever else the modules directories say
   * @throws OperatorError
   */
  async reload(
    { moduleHooks, values, followSecrets, registry }: ReloadParts,
    only?: ReadonlySet<string>,
  ): Promise<void> {
    moduleHooks.forget();
    const { enabled } = registry;
    // A directory that was empty brings more than its modules.
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

  /** Whether a values.yaml beside modules was lost before it was read: the flags in it are not known yet. */
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

/** What restricts a search for modules. */
interface Search {
  /** Modules that are enabled now. */
  readonly enabled: readonly ModuleName[];
  readonly only?: ReadonlySet<string> | undefined;
  /** Whether nobody has saved files: what is lost is to be held. Default false. */
  readonly isLook?: boolean;
}

async function findAll(
  { settings, host, gate, lone, memory, ownedReleases, stop }: ModuleFilesOptions,
  { enabled, only, isLook = false }: Search,
): Promise<FoundModules> {
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

/** What was found, with some modules as they were read again; one that is not found any more is missing. */
function withModules(before: FoundModules, read: FoundModules, names: ReadonlySet<string>): FoundModules {
  const old = new Map(before.modules.map((module) => [module.name, module]));
  // Only what was lost or is back is taken over, and a link that leads elsewhere.
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
 * Enabled modules whose entries are not in the modules directories any more while the operator runs. Where files are watched
 * that is a decision of their author, unless it looks like a volume that is gone. Elsewhere it counts at the next start.
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
  // An unmounted volume takes everything with it.
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

/** Modules that are held keep their values: what shows them reads these. */
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

async function flowOf(
  { settings, host, extensions, stop }: ModuleFilesOptions,
  modules: readonly Module[],
): Promise<FlowPassDeps | undefined> {
  return await createFlowHooks({ settings, host, extensions, nextReconcile }, modules, stop);
}
