import { applyFlagPatches, type FlagPatch } from '../values/enabled-patches.ts';
import type { ModuleKey } from '../values/module-key.ts';

/** What global hooks say about enabled modules. Lives until the daemon ends. */
export class DynamicFlags {
  #flags: ReadonlyMap<ModuleKey, boolean> = new Map();
  readonly #hooks = new Map<ModuleKey, string>();

  get all(): ReadonlyMap<ModuleKey, boolean> {
    return this.#flags;
  }

  /** The hook that spoke last about each module. */
  get hooks(): ReadonlyMap<ModuleKey, string> {
    return this.#hooks;
  }

  /** Returns whether any flag is different now. */
  apply(patches: readonly FlagPatch[], hook: string): boolean {
    const before = this.#flags;
    for (const { key } of patches) this.#hooks.set(key, hook);
    this.#flags = applyFlagPatches(before, patches);
    return this.#flags !== before;
  }
}
