import { isDeepStrictEqual } from 'node:util';
import { applyFlagPatches, type FlagPatch } from '../values/enabled-patches.ts';
import type { ModuleKey } from '../values/module-key.ts';

/** What global hooks say about enabled modules. Lives until the daemon ends. */
export class DynamicFlags {
  #flags: ReadonlyMap<ModuleKey, boolean> = new Map();
  readonly #hooks = new Map<ModuleKey, string>();
  readonly #enabledBy: (flags: ReadonlyMap<ModuleKey, boolean>) => readonly string[];

  /** @param enabledBy the modules that flags of all sources enable, with these of global hooks */
  constructor(enabledBy: (flags: ReadonlyMap<ModuleKey, boolean>) => readonly string[]) {
    this.#enabledBy = enabledBy;
  }

  get all(): ReadonlyMap<ModuleKey, boolean> {
    return this.#flags;
  }

  /** The hook that spoke last about each module. */
  get hooks(): ReadonlyMap<ModuleKey, string> {
    return this.#hooks;
  }

  /**
   * Returns whether flags enable other modules now. What another source overrides, or what is said about modules that do
   * not exist, must not start a converge over: two hooks that disagree about it would do so for ever.
   */
  apply(patches: readonly FlagPatch[], hook: string): boolean {
    for (const { key } of patches) this.#hooks.set(key, hook);
    const flags = applyFlagPatches(this.#flags, patches);
    // Most runs of hooks say nothing of flags.
    if (flags === this.#flags) return false;
    const before = this.#flags;
    this.#flags = flags;
    return !isDeepStrictEqual(this.#enabledBy(before), this.#enabledBy(flags));
  }
}
