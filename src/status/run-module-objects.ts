/** Starts the controller of Module objects and ends it with the daemon, after a last pass with a time limit. */

import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { ModuleObjects, ModuleSource } from './module-objects.ts';

/** For what has changed when the daemon ends. */
const LAST_WRITES_MS = 10_000;

/** Runs the mirror, if there is one, until the daemon ends; what it shows last is how the last runs ended. */
export function runModuleObjects(
  objects: ModuleObjects | undefined,
  source: ModuleSource,
  { shutdownGraceMs }: { readonly shutdownGraceMs: number },
  { clock, log }: { readonly clock: SteadyClock; readonly log: Logger },
  running: AsyncDisposableStack,
): void {
  if (objects === undefined) return;
  const ending = new AbortController();
  const abort = new AbortController();
  const ended = objects.run(source, ending.signal, abort.signal).catch((error: unknown) => {
    if (!abort.signal.aborted) log.error(errorFields(error), 'Module objects are no longer updated');
  });
  running.defer(async () => {
    ending.abort();
    const done = new AbortController();
    const limit = clock.sleep(Math.min(LAST_WRITES_MS, shutdownGraceMs), done.signal).then(
      () => log.warn({}, 'Module objects may not show the results of the last runs: the API server is slow'),
      () => undefined,
    );
    await Promise.race([ended, limit]);
    done.abort();
    abort.abort();
    await Promise.all([ended, limit]);
  });
}
