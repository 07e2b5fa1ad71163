import { applyFlagPatches, type FlagPatch } from '../values/enabled-patches.ts';
import type { ModuleKey } from '../values/module-key.ts';

/** What global hooks say about enabled modules. Lives until the daemon ends. */
export class DynamicFlags {
  #flags: ReadonlyMap<ModuleKey, boolean> = new Map();

  get all(): ReadonlyMap<ModuleKey, boolean> {
    return this.#flags;
  }

  /** Returns whether any flag is different now. */
  apply(patches: readonly FlagPatch[]): boolean {
    const before = this.#flags;
    this.#flags = applyFlagPatches(before, patches);
    return this.#flags !== before;
  }
}
