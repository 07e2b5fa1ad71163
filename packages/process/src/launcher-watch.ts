import { setImmediate } from 'node:timers/promises';
import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { processState } from './process-alive.ts';

/** Time for a response before the launcher is examined. It responds within a millisecond, on a busy machine in a second. */
const ANSWER_MS = 10_000;
/** One that is silent for so long does not come back; ending it fails its runs, which are tried again. */
const GIVE_UP_MS = 60_000;

/** The part of a launcher that is watched. */
export interface WatchedLauncher {
  readonly pid: number;
  /** Requests a response. */
  readonly ping: () => void;
  readonly kill: (signal: 'SIGCONT' | 'SIGKILL') => void;
}

export interface LauncherWatchOptions {
  readonly launcher: WatchedLauncher;
  readonly clock: SteadyClock;
  readonly log: Logger;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Whether anything runs; a launcher without work gets no ping. */
  readonly isBusy: () => boolean;
  /** The state of a process as one letter, as in `/proc/PID/stat`; undefined where the system does not say. */
  readonly stateOf?: (pid: number) => string | undefined;
}

/**
 * Notices a launcher that lives and does not respond, for example because a user stopped it: without it no process would
 * start, and none would be ended at its time limit. A stopped one is continued; one that stays silent is killed.
 */
export class LauncherWatch {
  readonly #options: LauncherWatchOptions;
  #isWatching = false;
  #hasResponded = false;

  constructor(options: LauncherWatchOptions) {
    this.#options = options;
  }

  /** To be called when a run begins. */
  begin(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#watch();
  }

  /** To be called with each frame of the launcher. */
  responded(): void {
    this.#hasResponded = true;
  }

  /** Pings while runs are open; ends by itself when none is. */
  async #watch(): Promise<void> {
    const { launcher, clock, signal, isBusy } = this.#options;
    let silentMs = 0;
    try {
      while (isBusy()) {
        this.#hasResponded = false;
        launcher.ping();
        await clock.sleep(ANSWER_MS, signal);
        // Timers come before input: after a stop of this process a response may wait to be read.
        await setImmediate();
        silentMs = this.#hasResponded ? 0 : silentMs + ANSWER_MS;
        if (silentMs > 0) this.#onSilence(silentMs);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#isWatching = false;
    }
  }

  /** Continues a stopped launcher, warns once about a silent one, and kills it after {@link GIVE_UP_MS}. */
  #onSilence(silentMs: number): void {
    const { launcher, log, stateOf = processState } = this.#options;
    const state = stateOf(launcher.pid);
    const fields = { pid: launcher.pid, state, silentMs };
    if (state === 'T') {
      log.warn(fields, 'launcher was stopped by a signal; it is continued');
      launcher.kill('SIGCONT');
    } else if (silentMs >= GIVE_UP_MS) {
      log.error(fields, 'launcher does not respond and is killed; what it ran fails and is tried again');
      launcher.kill('SIGKILL');
    } else if (silentMs === ANSWER_MS) {
      log.warn(fields, 'launcher does not respond: no process starts, and none ends at its time limit');
    }
  }
}
