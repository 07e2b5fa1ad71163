import type { ModuleName } from '../values/module-key.ts';

/** The CustomResourceDefinitions of modules, as the operator asks for them. */
export interface ModuleCrds {
  /** Whether the module brings any. */
  has(module: ModuleName): boolean;
  /** Brings them into the cluster; resolves when their kinds can be used. */
  ensure(module: ModuleName, signal: AbortSignal): Promise<void>;
}
