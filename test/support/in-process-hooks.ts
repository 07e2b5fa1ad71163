import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import type { WorkerPools } from '@addon-operator/script-threads/worker-pools';
import {
  type CreateWorkerPoolsOptions,
  createWorkerPools,
} from '../../src/hooks/in-process/create-worker-pools.ts';
import { InProcessHooks, type InProcessHooksOptions } from '../../src/hooks/in-process/in-process-hooks.ts';

/** Threads in their real process; to be stopped at the end. */
export function startWorkerPools(options: Partial<CreateWorkerPoolsOptions> = {}): WorkerPools {
  return createWorkerPools({
    clock: systemClock,
    log: silentLogger,
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: '/',
    heapLimitBytes: 256 * 1024 * 1024,
    ...options,
  });
}

/** In-process hooks with their real processes; to be stopped at the end. */
export function startInProcessHooks(
  options: Partial<InProcessHooksOptions & CreateWorkerPoolsOptions> = {},
): InProcessHooks & { stop(): Promise<void> } {
  const pools = startWorkerPools(options);
  const hooks = new InProcessHooks({
    pools,
    timeoutMs: undefined,
    maxOutputBytes: undefined,
    check: () => undefined,
    ...options,
  });
  return Object.assign(hooks, { stop: () => pools.stop('the test ends') });
}
