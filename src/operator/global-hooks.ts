import type { HookRuntime } from './hook-runtime.ts';
import { Synchronization } from './synchronization.ts';

/** The global hooks that are in operation. */
export class GlobalHooks {
  /** In name order; replaced as a whole when files change. */
  runtimes: readonly HookRuntime[] = [];
  readonly synchronization = new Synchronization();
  /** Those that a converge left out because they wait for a permission. */
  readonly skipped = new Set<HookRuntime>();
}
