import type { Hold, Module, Refusal } from '../modules/module.ts';
import type { ModuleDiscovery } from '../modules/module-discovery.ts';
import { inRunOrder } from '../modules/run-order.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { ModulesBefore } from './services.ts';
import { TrackedModule } from './tracked-module.ts';

const NONE: readonly ModuleName[] = [];

/**
 * The known modules, their tracked state, and the decisions of the last discovery. Every task reads
 * it; only discovery and the reload of files write it. A module has a {@link TrackedModule} from
 * its first task until its deletion is complete.
 */
export class ModuleRegistry {
  /** Whether the flags disable a module now; they may have changed since the last discovery. */
  readonly isFlaggedOff: (module: ModuleName) => boolean;
  readonly #tracked = new Map<ModuleName, TrackedModule>();
  #modules: readonly Module[] = [];
  #byName: ReadonlyMap<string, Module> = new Map();
  #discovery: ModuleDiscovery | undefined;
  #deployed: ReadonlySet<ModuleName> = new Set();
  #ranBefore: ReadonlySet<string> = new Set();
  #released: ReadonlySet<string> = new Set();
  #refusals: ReadonlyMap<ModuleName, string> = new Map();
  /**
   * The names of the enabled modules, built from the list of the last discovery on first use.
   */
  #enabledNames: { readonly list: readonly ModuleName[]; readonly names: ReadonlySet<ModuleName> } = {
    list: NONE,
    names: new Set(),
  };

  constructor(modules: readonly Module[], isFlaggedOff: (module: ModuleName) => boolean) {
    this.isFlaggedOff = isFlaggedOff;
    this.setModules(modules);
  }

  /** All known modules, in run order. */
  get modules(): readonly Module[] {
    return this.#modules;
  }

  /** Replaces all modules, such as after they were read again; tracked modules keep their state. */
  setModules(modules: readonly Module[]): void {
    this.#modules = inRunOrder(modules);
    this.#byName = new Map(this.#modules.map((module) => [module.name, module]));
    for (const module of this.#modules) {
      const tracked = this.#tracked.get(module.name);
      if (tracked !== undefined) tracked.reload(module);
    }
  }

  /** A module may not run any more; it is skipped until its files are read again. */
  refuse(name: ModuleName, refusal: Refusal): void {
    this.setModules(this.#modules.map((module) => (module.name === name ? { ...module, refusal } : module)));
  }

  /** Modules with a state, by name. */
  get tracked(): ReadonlyMap<ModuleName, TrackedModule> {
    return this.#tracked;
  }

  /** The module with this name; undefined if none is known. */
  find(name: string): Module | undefined {
    return this.#byName.get(name);
  }

  /** The tracked module of this name, created at the first call; undefined when no such module is known. */
  track(name: ModuleName): TrackedModule | undefined {
    const known = this.#tracked.get(name);
    if (known !== undefined) return known;
    const module = this.find(name);
    if (module === undefined) return undefined;
    const tracked = new TrackedModule(module);
    this.#tracked.set(name, tracked);
    return tracked;
  }

  /** Drops the state of a module; its next run begins with the start-up. */
  forget(name: ModuleName): void {
    this.#tracked.delete(name);
  }

  /** Enabled modules in run order, with the reasons; undefined before the first discovery. */
  get discovery(): ModuleDiscovery | undefined {
    return this.#discovery;
  }

  /** Called with the result of each discovery that a converge follows. */
  setDiscovery(discovery: ModuleDiscovery): void {
    this.#discovery = discovery;
  }

  /** Modules that ran, or had a release owned by this operator, at the last discovery. */
  get deployed(): ReadonlySet<ModuleName> {
    return this.#deployed;
  }

  /**
   * Called when a discovery begins.
   *
   * @param ranBefore names of modules that have a release or were run: those that no discovery of this process has
   *   decided about were enabled
   */
  setDeployed(modules: ReadonlySet<ModuleName>, ranBefore: ReadonlySet<string>): void {
    this.#deployed = modules;
    this.#ranBefore = ranBefore;
  }

  /** The state that a discovery starts from. */
  get before(): ModulesBefore {
    const wasEnabled = ({ name }: Module): boolean =>
      this.isEnabled(name) || (this.#discovery?.decisions.has(name) !== true && this.#ranBefore.has(name));
    const lastEnabled = new Set(this.#modules.filter(wasEnabled).map(({ name }) => name));
    return { deployed: this.#deployed, lastEnabled };
  }

  /**
   * Why a module is not run: a problem of its files, or a failed enabled script; undefined if it
   * may run.
   */
  holdOf(name: string): Hold | undefined {
    const module = this.find(name);
    if (module === undefined || module.refusal !== undefined) return module?.refusal;
    const reason = this.#discovery?.undecided?.get(module.name);
    if (reason === undefined) return undefined;
    return {
      type: 'undecided',
      reason,
      remedy: `correct ${module.enabledScript ?? 'the script'}, it is retried`,
    };
  }

  /** Called when a discovery begins, with the releases of this operator whose newest revision is deployed. */
  setReleased(releases: ReadonlySet<string>): void {
    this.#released = releases;
  }

  /** Whether a module was ready since it was enabled; before a restart of the operator, its release shows it. */
  hasBeenReady(module: ModuleName): boolean {
    return this.#tracked.get(module)?.hasBeenReady === true || this.#released.has(module);
  }

  /** Why modules are not authorized, as of the last report. */
  get refusals(): ReadonlyMap<ModuleName, string> {
    return this.#refusals;
  }

  /** Called when refusals are reported, with all current ones. */
  setRefusals(refusals: ReadonlyMap<ModuleName, string>): void {
    this.#refusals = refusals;
  }

  /** The modules that the last discovery enabled, in run order; empty before the first one. */
  get enabled(): readonly ModuleName[] {
    return this.discovery?.enabled ?? NONE;
  }

  /**
   * Modules that were started at least in part: they have to be stopped before they are disabled.
   */
  get started(): ReadonlySet<ModuleName> {
    const modules = [...this.#tracked.values()];
    return new Set(modules.filter(({ isStarted }) => isStarted).map(({ module }) => module.name));
  }

  isEnabled(module: ModuleName): boolean {
    const { enabled } = this;
    // Lists of all modules call this for each of them: a search in the array would be quadratic.
    if (this.#enabledNames.list !== enabled) this.#enabledNames = { list: enabled, names: new Set(enabled) };
    return this.#enabledNames.names.has(module);
  }

  /**
   * Whether tasks of a module are still to be run: it was found enabled, and no flag has disabled it since. Without
   * looking at flags, a failing task of a module just disabled would hold up the converge that ends it.
   */
  isWanted(module: ModuleName): boolean {
    if (!this.isEnabled(module)) return false;
    return this.isProtected(module) || !this.isFlaggedOff(module);
  }

  /** Whether the last discovery decided not to run a module for a reason other than flags. */
  isHeldBack(module: ModuleName): boolean {
    const source = this.discovery?.decisions.get(module)?.source;
    return source === 'authorization' || source === 'files' || source === 'enabled-script-failure';
  }

  /** Whether a module is enabled only because its deletion policy forbids to delete it. */
  isProtected(module: ModuleName): boolean {
    return this.discovery?.decisions.get(module)?.source === 'deletion-policy';
  }

  /** Whether a module that is not enabled still has parts to stop. */
  isDeletionPending(module: ModuleName): boolean {
    const tracked = this.#tracked.get(module);
    if (tracked === undefined || this.isEnabled(module)) return false;
    return tracked.isStarted || tracked.state.type === 'deleting';
  }
}
