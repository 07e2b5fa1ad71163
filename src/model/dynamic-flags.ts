import { isDeepStrictEqual } from 'node:util';
import { applyFlagPatches, type FlagPatch } from '../values/enabled-patches.ts';
import type { ModuleKey } from '../values/module-key.ts';

/**
 * Flags that global hooks set for modules. They are lost when the daemon ends; hooks set them again
 * at the next start.
 */
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
   * Returns whether other modules are enabled now. A flag that another source overrides, or one of
   * an unknown module, must not start the converge again: two hooks that disagree about it would do
   * so for ever.
   */
  apply(patches: readonly FlagPatch[], hook: string): boolean {
    for (const { key } of patches) this.#hooks.set(key, hook);
    const flags = applyFlagPatches(this.#flags, patches);
    // Most hook runs set no flags: the comparison below is skipped for them.
    if (flags === this.#flags) return false;
    const before = this.#flags;
    this.#flags = flags;
    return !isDeepStrictEqual(this.#enabledBy(before), this.#enabledBy(flags));
  }
}
