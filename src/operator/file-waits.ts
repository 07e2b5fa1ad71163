import type { Clock } from '@addon-operator/base/clock';
import { errorFields, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import type { DaemonSettings } from '../settings/daemon-settings.ts';
import { QUIET_MS, type WatchedSettings, watchedPaths, watchPaths } from './watch-files.ts';

export interface FileWaitsDeps {
  /** Files whose changes are followed; undefined: they are read again from time to time. */
  readonly directories: readonly string[] | undefined;
  readonly host: { readonly clock: Clock; readonly log: Logger };
  /** Called while a file is waited for, with what cannot be loaded; returns what ends that. */
  readonly onWait?: ((error: OperatorError) => Promise<() => Promise<void>>) | undefined;
  readonly stop: AbortSignal;
}

/** Where nothing reports changes of files. */
export const READ_AGAIN_MS = 10_000;

/**
 * Loads files at the start. A file that cannot be loaded is waited for: a process that ends would leave its user without the
 * commands that name the file. Where the caller needs an end, such as a pipeline, the first failure ends the start.
 */
export class FileWaits {
  readonly #deps: FileWaitsDeps | undefined;
  #hasWaited = false;

  /** @param deps undefined: nothing is waited for */
  constructor(deps: FileWaitsDeps | undefined) {
    this.#deps = deps;
  }

  /** Whether files may have changed since they were loaded. */
  get hasWaited(): boolean {
    return this.#hasWaited;
  }

  /** @throws OperatorError what `load` throws, where nothing is waited for; the reason of the stop */
  async untilLoaded<T>(load: () => Promise<T>): Promise<T> {
    try {
      return await load();
    } catch (error) {
      const deps = this.#deps;
      if (deps === undefined || deps.stop.aborted || !isAwaited(error, deps)) throw error;
      this.#hasWaited = true;
      return await this.#retry(deps, load, error);
    }
  }

  async #retry<T>(deps: FileWaitsDeps, load: () => Promise<T>, first: OperatorError) {
    const { host, stop, onWait } = deps;
    const { log } = host;
    const next = await untilNext(deps);
    try {
      for (let failure = first, isNew = true; ; ) {
        // Who reads the record asks for the status at once.
        const endWait = await (onWait?.(failure) ?? Promise.resolve(undefined)).finally(() => {
          if (isNew) log.error(errorFields(failure), WAITING);
        });
        try {
          await next.wait();
        } finally {
          await endWait?.();
        }
        try {
          const loaded = await load();
          log.info({}, 'the files are loaded now, the start continues');
          return loaded;
        } catch (error) {
          if (stop.aborted || !isAwaited(error, deps)) throw error;
          isNew = messageOf(error) !== messageOf(failure);
          failure = error;
        }
      }
    } finally {
      await next.close();
    }
  }
}

/** An author corrects whatever is wrong. Elsewhere only values and schemas are waited for: a missing directory or hook ends the start. */
function isAwaited(error: unknown, { directories }: FileWaitsDeps): error is OperatorError {
  return error instanceof OperatorError && (directories !== undefined || error.code === 'VALUES_INVALID');
}

/** Waits until files may be different. */
async function untilNext({ directories, host, stop }: FileWaitsDeps) {
  const { clock, log } = host;
  if (directories === undefined)
    return { wait: () => clock.sleep(READ_AGAIN_MS, stop), close: () => Promise.resolve() };
  const changes = new Changes(stop);
  const watcher = await watchPaths(directories, {
    onChange: () => changes.note(),
    // There may have been a change before the watch began.
    onReady: () => changes.note(),
    onError: (error) => log.warn(errorFields(error), 'files cannot be watched'),
  });
  return { wait: () => changes.untilQuiet(clock), close: () => watcher.close() };
}

/**
 * With `--watch-files` an author is about to correct the file. Without, the daemon waits where it is a process of its own. Nothing
 * is waited for by one that ends after the first converge, or only looks.
 */
export function createFileWaits({
  settings,
  host,
  stop,
  onWait,
  isInspection,
}: Pick<FileWaitsDeps, 'stop' | 'onWait'> & {
  readonly host: FileWaitsDeps['host'] & { readonly process?: unknown };
  readonly settings: WatchedSettings & Pick<DaemonSettings, 'watchesFiles' | 'exitsAfterConverge'>;
  readonly isInspection: boolean;
}): FileWaits {
  const { watchesFiles, exitsAfterConverge } = settings;
  const isWaiting = (watchesFiles || host.process !== undefined) && !exitsAfterConverge && !isInspection;
  const directories = watchesFiles ? watchedPaths(settings) : undefined;
  return new FileWaits(isWaiting ? { directories, host, onWait, stop } : undefined);
}

const WAITING = 'files cannot be loaded, the start waits until they are corrected';

/** Changes that were not taken into account yet. */
class Changes {
  readonly #stop: AbortSignal;
  #count = 0;
  #taken = 0;
  #changed = Promise.withResolvers<void>();

  constructor(stop: AbortSignal) {
    this.#stop = stop;
  }

  note(): void {
    this.#count += 1;
    this.#changed.resolve();
  }

  /** Resolves when there was a change and then none for a moment. @throws the reason of the stop */
  async untilQuiet(clock: Clock): Promise<void> {
    await resultOrAbort(this.#changed.promise, this.#stop);
    while (this.#taken !== this.#count) {
      this.#taken = this.#count;
      await clock.sleep(QUIET_MS, this.#stop);
    }
    this.#changed = Promise.withResolvers<void>();
  }
}
