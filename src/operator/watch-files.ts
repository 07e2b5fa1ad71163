import { basename, join, resolve, sep } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { isObject, stringOf } from '@addon-operator/json';
import type { FSWatcher } from 'chokidar';
import { policyFiles } from '../extensions/create-authorization.ts';
import { customizationsDir } from '../extensions/points/release-points.ts';
import { type RestartHooksParts, restartChangedHooks } from '../hook-runs/restart-hooks.ts';
import type { Journal } from '../journal/journal.ts';
import { savedFile } from '../model/saved-files.ts';
import { FILES_CHANGED } from '../model/tasks.ts';
import { allModulesDirs } from '../module-store/module-store.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { AuthorizationSettings } from '../settings/authorization-settings.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import type { ExtensionSettings } from '../settings/hook-settings.ts';

/** The quiet time before a reload, in milliseconds: editors write a file in several steps. */
export const QUIET_MS = 300;

const SHOWN_NAMES = 3;

/** The parts that a change of files is queued with. */
export interface WatchFilesParts extends RestartHooksParts {
  readonly router: Pick<TaskRouter, 'main'>;
  readonly journal: Pick<Journal, 'marks'>;
}

/** The settings that name watched files. */
export type WatchedSettings = Pick<DirectorySettings, 'globalHooksDir' | 'moduleStore' | 'modulesDirs'> &
  Pick<ExtensionSettings, 'customizationsDir'> &
  Pick<AuthorizationSettings, 'authPolicy' | 'authLockFile' | 'authKeyring'>;

/** Receives events about watched files. */
export interface PathsListener {
  readonly onChange: (path: string) => void;
  /** The watch is complete: from now on every change is reported. */
  readonly onReady: () => void;
  readonly onError: (error: unknown) => void;
}

/** The directories and files whose changes are followed with `--watch-files`. */
export function watchedPaths(settings: WatchedSettings): readonly string[] {
  return [
    settings.globalHooksDir,
    customizationsDir(settings),
    ...allModulesDirs(settings),
    ...policyFiles(settings),
  ];
}

/** Watches paths and everything below them, until the watch is closed. */
export async function watchPaths(paths: readonly string[], listener: PathsListener): Promise<FSWatcher> {
  // Imported on demand: only development needs it, and it costs memory and start time.
  const { watch } = await import('chokidar');
  const roots = new Set(paths.map((path) => resolve(path)));
  const files = watch([...paths], {
    ignoreInitial: true,
    // Dot files are ignored, but a watched directory may itself lie below a dot directory.
    ignored: (path) => basename(path).startsWith('.') && !roots.has(resolve(path)),
  });
  files.on('all', (_event, path) => listener.onChange(path));
  // Some changes, such as chmod, are reported as raw events only. Raw events also come for files
  // beside a watched directory.
  files.on('raw', (event, name, details) => {
    const directory = isObject(details) ? stringOf(details['watchedPath']) : '';
    if (event !== 'change' || name === null || directory === '') return;
    const path = resolve(directory, name);
    const isWatched = [...roots].some((root) => path === root || path.startsWith(join(root, sep)));
    if (isWatched && !name.split(sep).some((part) => part.startsWith('.'))) listener.onChange(path);
  });
  files.on('error', listener.onError);
  files.on('ready', listener.onReady);
  return files;
}

/**
 * Watches directories with hooks and modules, and queues a reload when files in them change.
 *
 * @returns ends the watch
 */
export function watchFiles(
  directories: readonly string[],
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  operator: WatchFilesParts,
  stop: AbortSignal,
): () => Promise<void> {
  const { main } = operator.router;
  const changed = new Set<string>();
  let changes = 0;
  const onChange = async (path: string): Promise<void> => {
    // Each change restarts the quiet time; only the last one queues the reload.
    changes += 1;
    changed.add(resolve(path));
    const seen = changes;
    await clock.sleep(QUIET_MS, stop);
    // A later change has started a longer wait, which handles all of them.
    if (seen !== changes) return;
    log.info({ path }, 'files changed, loading hooks and modules again');
    operator.journal.marks.add({ kind: 'files', text: `files saved: ${namesText(changed)}` });
    const saved = [...changed].map((each) => savedFile(each));
    // In front of all tasks, and before running hooks are ended: their tasks are then repeated
    // behind the reload.
    main.prepend({ type: 'ReloadFiles', saved, trigger: FILES_CHANGED });
    restartChangedHooks(operator, new Set(saved.flatMap(({ path: watched, real }) => [watched, real])));
    changed.clear();
    main.cutDelay();
  };
  const watcher = watchPaths(directories, {
    onChange: (path) => {
      onChange(path).catch(() => undefined);
    },
    onReady: () => log.info({ directories }, 'watching files for changes'),
    onError: (error) => log.warn(errorFields(error), 'files cannot be watched'),
  });
  return async () => {
    await (await watcher).close();
  };
}

/** The first names, and how many others there are. */
function namesText(paths: ReadonlySet<string>): string {
  const names = [...new Set([...paths].map((path) => basename(path)))];
  const more = names.length - SHOWN_NAMES;
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
