import type { Clock } from '@addon-operator/base/clock';
import { errorFields, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import type { DaemonSettings } from '../settings/daemon-settings.ts';
import { QUIET_MS, type WatchedSettings, watchedPaths, watchPaths } from './watch-files.ts';

export interface FileWaitsDeps {
  /** The watched files; undefined: files are read again at an interval. */
  readonly directories: readonly string[] | undefined;
  readonly host: { readonly clock: Clock; readonly log: Logger };
  /** Called when a wait begins, with the error; returns a function that ends the wait's display. */
  readonly onWait?: ((error: OperatorError) => Promise<() => Promise<void>>) | undefined;
  readonly stop: AbortSignal;
}

/** The interval, in milliseconds, where no watch reports changes. */
export const READ_AGAIN_MS = 10_000;

/**
 * Loads files at the start. If a file cannot be loaded, the daemon waits for a correction instead
 * of ending: a process that ends and restarts would show its user nothing but a crash loop. Where
 * the caller needs an end, such as in a pipeline, the first failure ends the start.
 */
export class FileWaits {
  readonly #deps: FileWaitsDeps | undefined;
  #hasWaited = false;

  /** @param deps undefined: the first failure is thrown */
  constructor(deps: FileWaitsDeps | undefined) {
    this.#deps = deps;
  }

  /** Whether files may have changed since they were loaded. */
  get hasWaited(): boolean {
    return this.#hasWaited;
  }

  /** @throws the error of `load`, if it is not waited for; the reason of the stop */
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
    // Watched before the wait is announced: a correction in between would be missed.
    const next = await untilNext(deps);
    try {
      for (let failure = first, isNew = true; ; ) {
        // Readers of the log record request the status at once, so it is served first.
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
          // A new problem is logged; the same one is not logged at every interval.
          isNew = messageOf(error) !== messageOf(failure);
          failure = error;
        }
      }
    } finally {
      await next.close();
    }
  }
}

/**
 * Authors correct any file. Elsewhere only values and schemas are waited for, as they may come from
 * a mounted ConfigMap; a missing directory or hook ends the start.
 */
function isAwaited(error: unknown, { directories }: FileWaitsDeps): error is OperatorError {
  return error instanceof OperatorError && (directories !== undefined || error.code === 'VALUES_INVALID');
}

/** Returns a wait for the next possible change. */
async function untilNext({ directories, host, stop }: FileWaitsDeps) {
  const { clock, log } = host;
  if (directories === undefined)
    return { wait: () => clock.sleep(READ_AGAIN_MS, stop), close: () => Promise.resolve() };
  const changes = new Changes(stop);
  const watcher = await watchPaths(directories, {
    onChange: () => changes.note(),
    // The files may have changed before the watch began.
    onReady: () => changes.note(),
    onError: (error) => log.warn(errorFields(error), 'files cannot be watched'),
  });
  return { wait: () => changes.untilQuiet(clock), close: () => watcher.close() };
}

/**
 * Decides whether the start waits for files. With `--watch-files` an author is about to correct
 * them; without it, only a daemon with a process of its own waits. An inspection, and a daemon that
 * ends after the first converge, never wait.
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

/** Counts changes, and waits until they are over. */
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
