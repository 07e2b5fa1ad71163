import PQueue from 'p-queue';
import type { Hook } from './hook.ts';

/** Loads that may be under way at once: they are mostly short processes, and a machine has few cores for them. */
const LOADS_AT_ONCE = 4;

/** Undefined when they could not be loaded. */
type LoadedHooks = Promise<readonly Hook[] | undefined>;

/**
 * Hooks of modules, loaded before the turn of their module comes. Modules run one after another, but what their hooks
 * say about themselves does not depend on one another.
 */
export class HooksAhead {
  readonly #queue = new PQueue({ concurrency: LOADS_AT_ONCE });
  readonly #modules = new Map<string, { hooks: LoadedHooks }>();

  /** Loads the hooks of a module soon, unless that is done or under way. Failures are kept quiet: see {@link take}. */
  start(module: string, load: () => Promise<readonly Hook[]>): void {
    if (this.#modules.has(module)) return;
    const entry: { hooks: LoadedHooks } = { hooks: Promise.resolve(undefined) };
    this.#modules.set(module, entry);
    const isWanted = (): boolean => this.#modules.get(module) === entry;
    entry.hooks = this.#queue.add(() => (isWanted() ? load() : undefined)).catch(() => undefined);
  }

  /**
   * What was loaded, once only, waiting for it where necessary; undefined when nothing was, it failed, or it was
   * forgotten meanwhile: who loads then finds out why.
   */
  async take(module: string): LoadedHooks {
    const entry = this.#modules.get(module);
    const hooks = await entry?.hooks;
    // Forgotten meanwhile, perhaps because the files have changed, or taken by somebody else.
    if (this.#modules.get(module) !== entry) return undefined;
    this.#modules.delete(module);
    return hooks;
  }

  /** Forgets what was loaded, or is still to be, for other modules than these. */
  retain(modules: ReadonlySet<string>): void {
    for (const module of this.#modules.keys()) if (!modules.has(module)) this.#modules.delete(module);
  }
}
