import { basename, resolve } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { type RestartHooksParts, restartChangedHooks } from './restart-hooks.ts';
import type { TaskRouter } from './task-router.ts';

/** Editors write a file in several steps: a reload waits until nothing changed for this long. */
const QUIET_MS = 300;

/** What the functions here use of the operator. */
export interface WatchFilesParts extends RestartHooksParts {
  readonly router: Pick<TaskRouter, 'main'>;
}

/**
 * Watches directories with hooks and modules, and asks the operator to load them again when something in them changes.
 *
 * @returns ends the watch
 */
export function watchFiles(
  directories: readonly string[],
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  operator: WatchFilesParts,
  stop: AbortSignal,
): () => Promise<void> {
  const roots = new Set(directories.map((directory) => resolve(directory)));
  const { main } = operator.router;
  const changed = new Set<string>();
  let changes = 0;
  const onChange = async (path: string): Promise<void> => {
    changes += 1;
    changed.add(resolve(path));
    const seen = changes;
    await clock.sleep(QUIET_MS, stop);
    if (seen !== changes) return;
    log.info({ path }, 'files changed, loading hooks and modules again');
    main.prepend({ type: 'ReloadFiles', trigger: 'Files-Changed' });
    restartChangedHooks(operator, changed);
    changed.clear();
    main.cutDelay();
  };
  // Loaded on demand: only development needs it.
  const watcher = import('chokidar').then(({ watch }) => {
    const files = watch([...directories], {
      ignoreInitial: true,
      // The directories themselves may lie wherever they want.
      ignored: (path) => basename(path).startsWith('.') && !roots.has(resolve(path)),
    });
    files.on('all', (_event, path) => {
      onChange(path).catch(() => undefined);
    });
    files.on('error', (error) => log.warn(errorFields(error), 'files cannot be watched'));
    files.on('ready', () => log.info({ directories }, 'watching files for changes'));
    return files;
  });
  return async () => {
    await (await watcher).close();
  };
}
