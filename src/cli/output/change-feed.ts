import type { SteadyClock } from '@addon-operator/base/clock';
import { followStream } from '@addon-operator/http-server/stream-client';

/** The topic of a stream, by the beginning of the path that is watched. */
const TOPICS: readonly (readonly [path: string, topics: string])[] = [
  ['/queue/', 'queues'],
  ['/module/list', 'modules'],
  ['/api/v1/runs', 'runs'],
  ['/api/v1/events', 'runs'],
  ['/api/v1/next', 'next'],
];
const OTHER_TOPICS = 'queues,modules';
/** One run: what its hook prints is shown, too. */
const RUN = /^\/api\/v1\/runs\/(\d+)$/;
/** The operator sends changes as often. */
const LEAST_PAUSE_MS = 250;
/** A change without an event is noticed this late. */
const QUIET_MS = 10_000;
const RECONNECT_MS = 1_000;

/** Says when a response of the operator may be another one: by the stream, and by time where there is no stream. */
export class ChangeFeed {
  readonly #clock: SteadyClock;
  readonly #signal: AbortSignal;
  #isFollowing = false;
  #wake = new AbortController();
  #lookedMs: number;

  constructor(clock: SteadyClock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#lookedMs = clock.steadyMs();
  }

  /** Follows what the response for a path depends on until the signal aborts, over all restarts of the operator. Never rejects. */
  async follow(socketPath: string, watched: string): Promise<void> {
    const path = `/api/v1/stream?topics=${topicsOf(watched)}`;
    while (!this.#signal.aborted) {
      await followStream({ socketPath, path }, this.#signal, ({ event }) => {
        if (event === 'ready') this.#isFollowing = true;
        if (this.#isFollowing) this.#wake.abort();
      }).catch(() => undefined);
      if (this.#isFollowing) this.#wake.abort();
      this.#isFollowing = false;
      await this.#sleep(RECONNECT_MS, this.#signal);
    }
  }

  /**
   * Resolves after the interval, at a change before that, or when the signal aborts. Returns whether the response may be another
   * one.
   *
   * @param countsSeconds whether the response changes with the time
   */
  async next(intervalMs: number, countsSeconds: boolean): Promise<boolean> {
    await this.#sleep(Math.min(LEAST_PAUSE_MS, intervalMs), this.#signal);
    if (!this.#wake.signal.aborted)
      await this.#sleep(intervalMs - LEAST_PAUSE_MS, AbortSignal.any([this.#signal, this.#wake.signal]));
    const isQuiet = this.#clock.steadyMs() - this.#lookedMs < QUIET_MS;
    if (this.#isFollowing && isQuiet && !countsSeconds && !this.#wake.signal.aborted) return false;
    this.#wake = new AbortController();
    this.#lookedMs = this.#clock.steadyMs();
    return true;
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(Math.max(0, ms), signal).catch(() => undefined);
  }
}

function topicsOf(watched: string): string {
  const [, run] = RUN.exec(watched) ?? [];
  if (run !== undefined) return `runs,output&run=${run}`;
  return TOPICS.find(([path]) => watched.startsWith(path))?.[1] ?? OTHER_TOPICS;
}
