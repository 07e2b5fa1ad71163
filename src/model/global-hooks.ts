import type { HookRuntime } from './hook-runtime.ts';
import { Synchronization } from './synchronization.ts';

/** The global hooks that are in operation. */
export class GlobalHooks {
  readonly synchronization = new Synchronization();
  #runtimes: readonly HookRuntime[] = [];
  readonly #skipped = new Set<HookRuntime>();

  /** In name order. */
  get runtimes(): readonly HookRuntime[] {
    return this.#runtimes;
  }

  /** Replaces all, at the start and when files change; they have to be in name order. */
  setRuntimes(runtimes: readonly HookRuntime[]): void {
    this.#runtimes = runtimes;
  }

  /** Called when a converge leaves out a hook because it waits for a permission. */
  skip(runtime: HookRuntime): void {
    this.#skipped.add(runtime);
  }

  /** Called when a hook is permitted. Returns whether a converge has left it out. */
  unskip(runtime: HookRuntime): boolean {
    return this.#skipped.delete(runtime);
  }
}
