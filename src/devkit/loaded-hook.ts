import type { Hook } from '../hooks/hook.ts';
import type { FoundModules } from '../modules/find-modules.ts';

/** The data from files for one hook: nothing in it changes. */
export interface LoadedHook {
  readonly hook: Hook;
  /** The modules directory, or that of global hooks. */
  readonly found: FoundModules;
}
