import PQueue from 'p-queue';
import type { Hook } from './hook.ts';

/** Loads that may be under way at once: they are mostly short processes, and a machine has few cores for them. */
const LOADS_AT_ONCE = 4;

/**
 * Hooks of modules, loaded before the turn of their module comes. Modules run one after another, but what their hooks
 * say about themselves does not depend on one another.
 */
export class HooksAhead {
  readonly #loads = new PQueue({ concurrency: LOADS_AT_ONCE });
  readonly #loaded = new Map<string, Promise<readonly Hook[] | undefined>>();

  /** Loads the hooks of a module soon, unless that is done or under way. Failures are kept quiet: see {@link take}. */
  start(module: string, load: () => Promise<readonly Hook[]>): void {
    if (this.#loaded.has(module)) return;
    const hooks = this.#loads.add(() => (this.#loaded.has(module) ? load() : undefined));
    this.#loaded.set(
      module,
      hooks.catch(() => undefined),
    );
  }

  /** What was loaded, once only; undefined when nothing was, or it failed: whoever asks then finds out why. */
  async take(module: string): Promise<readonly Hook[] | undefined> {
    const hooks = await this.#loaded.get(module);
    this.#loaded.delete(module);
    return hooks;
  }

  /** Forgets what was loaded for other modules than these. */
  retain(modules: ReadonlySet<string>): void {
    for (const module of this.#loaded.keys()) if (!modules.has(module)) this.#loaded.delete(module);
  }
}
