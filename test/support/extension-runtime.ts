import {
  ExtensionRuntime,
  type ExtensionRuntimeOptions,
} from '../../src/extensions/runtime/extension-runtime.ts';
import type { CreateWorkerPoolsOptions } from '../../src/hooks/in-process/create-worker-pools.ts';
import { startWorkerPools } from './in-process-hooks.ts';

/** Extensions with their real processes; to be stopped at the end. */
export function startExtensionRuntime(
  options: Partial<ExtensionRuntimeOptions & CreateWorkerPoolsOptions> = {},
): {
  readonly runtime: ExtensionRuntime;
  stop(): Promise<void>;
} {
  const pools = startWorkerPools(options);
  const runtime = new ExtensionRuntime({
    pools,
    timeoutMs: 30_000,
    maxOutputBytes: undefined,
    check: () => undefined,
    ...options,
  });
  return { runtime, stop: () => pools.stop('the test ends') };
}
