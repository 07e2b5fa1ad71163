/** Creates the pools of threads that in-process hooks and extensions share. */

import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { WorkerPools } from '@addon-operator/script-threads/worker-pools';
import { OWN_CODE, ownProgram } from '../../own-code.ts';

export interface CreateWorkerPoolsOptions {
  readonly clock: SteadyClock;
  readonly log: Logger;
  /** Environment of the scripts. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** How large the heap of one thread may get; buffers may use as much again. */
  readonly heapLimitBytes: number;
}

/** The threads in which hooks and extensions run that are scripts. */
export function createWorkerPools({ log, ...options }: CreateWorkerPoolsOptions): WorkerPools {
  return new WorkerPools({
    ...options,
    program: ownProgram('hooks/in-process/host-main'),
    // `packages/` is beside `src/`.
    ownDirectories: [OWN_CODE.pathname, new URL('../packages/', OWN_CODE).pathname],
    onStrayLine: (line) => log.info({ line }, 'a hook or extension wrote directly to standard output'),
    onSharedFailure: (path, reason) =>
      log.warn(
        { path, reason },
        'the process of in-process hooks exited while several hooks were running; each is retried in a separate process',
      ),
  });
}
