import type { Clock } from '@addon-operator/base/clock';
import { errorFields, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { resultOrAbort } from '@addon-operator/base/result-or-abort';
import type { Settings } from '../settings.ts';
import { QUIET_MS, type WatchedSettings, watchedPaths, watchPaths } from './watch-files.ts';

export interface FileWaitsDeps {
  readonly directories: readonly string[];
  readonly host: { readonly clock: Clock; readonly log: Logger };
  readonly stop: AbortSignal;
}

/**
 * Loads files at the start. Development only: a file that cannot be loaded is waited for, since its author is about to
 * correct it. Without an author the first failure ends the start.
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
      if (deps === undefined || deps.stop.aborted || !(error instanceof OperatorError)) throw error;
      this.#hasWaited = true;
      return await this.#retry(deps, load, error);
    }
  }

  async #retry<T>({ host, directories, stop }: FileWaitsDeps, load: () => Promise<T>, first: OperatorError) {
    const { clock, log } = host;
    const changes = new Changes(stop);
    const watcher = await watchPaths(directories, {
      onChange: () => changes.note(),
      // There may have been a change before the watch began.
      onReady: () => changes.note(),
      onError: (error) => log.warn(errorFields(error), 'files cannot be watched'),
    });
    try {
      for (let failure = first, isNew = true; ; ) {
        if (isNew) log.error(errorFields(failure), WAITING);
        await changes.untilQuiet(clock);
        try {
          const loaded = await load();
          log.info({}, 'the files are loaded now, the start goes on');
          return loaded;
        } catch (error) {
          if (stop.aborted || !(error instanceof OperatorError)) throw error;
          isNew = messageOf(error) !== messageOf(failure);
          failure = error;
        }
      }
    } finally {
      await watcher.close();
    }
  }
}

/** An author is at work where files are watched, unless the operator ends after the first converge or only looks. */
export function createFileWaits({
  settings,
  host,
  stop,
  isInspection,
}: Pick<FileWaitsDeps, 'host' | 'stop'> & {
  readonly settings: WatchedSettings & Pick<Settings, 'watchesFiles' | 'exitsAfterConverge'>;
  readonly isInspection: boolean;
}): FileWaits {
  const hasAuthor = settings.watchesFiles && !settings.exitsAfterConverge && !isInspection;
  return new FileWaits(hasAuthor ? { directories: watchedPaths(settings), host, stop } : undefined);
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
