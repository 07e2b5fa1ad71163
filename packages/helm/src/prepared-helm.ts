// Limits how many helm processes run at a time, and starts one ahead while there is room. The prepared helm
// waits at the pipe of its values; the run that it was prepared for takes it over, and it is ended if another
// run of the release comes first or it waits too long. Preparation never makes a run fail: without it the run
// starts its own helm.

import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { SpanContext } from '@addon-operator/base/trace';
import { runInPlace } from '@addon-operator/concurrency/bounded-work';
import { canonicalJson } from '@addon-operator/json';
import PQueue from 'p-queue';
import type { HelmOutcome } from './helm-process.ts';
import type { Decide } from './render-gate.ts';

/** Values may change until then; a helm that waits longer only takes memory. */
const MAX_AGE_MS = 10_000;

/** The command of a prepared run, and its input. */
export interface Preparation {
  readonly decide: Decide;
  /** To be called with the named pipe that helm reads its values from. */
  readonly onStart: (valuesPipe: string) => void;
  /** The values, for taking secrets out of errors; undefined until they are known. */
  readonly values: () => unknown;
  /** The span that it will be, which helm is passed; undefined if nothing is traced. */
  readonly span: SpanContext | undefined;
}

interface PreparedHelmOptions {
  readonly clock: SteadyClock;
  readonly log: Logger;
  /** How many helm processes may run at a time, the prepared one included; at least 1. */
  readonly places: number;
}

/**
 * The places for helm processes, and one helm that is started before its module needs it: a third of what helm takes is its
 * own start. It waits for its values, so it applies exactly what a helm started later would.
 */
export class PreparedHelm {
  readonly #options: PreparedHelmOptions;
  readonly #places: PQueue;
  #running = 0;
  #waiting: WaitingHelm | undefined;

  constructor(options: PreparedHelmOptions) {
    this.#options = options;
    this.#places = new PQueue({ concurrency: options.places });
  }

  /** Waits for a place, then acts. */
  async run<T>(release: string, act: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return await runInPlace(
      this.#places,
      async () => {
        this.#running += 1;
        try {
          const waiting = this.#waiting;
          const isAnother = waiting !== undefined && waiting.release !== release;
          if (isAnother && this.#running >= this.#options.places) await this.dismiss();
          return await act();
        } finally {
          this.#running -= 1;
        }
      },
      signal,
    );
  }

  /** Whether {@link prepare} would start a process. */
  get hasRoom(): boolean {
    return this.#waiting === undefined && this.#running < this.#options.places;
  }

  /** Starts a helm for later, unless there is no room. Never throws: without it the run starts its own. */
  prepare(
    release: string,
    key: string,
    start: (preparation: Preparation, signal: AbortSignal) => Promise<HelmOutcome>,
    span?: SpanContext,
  ): void {
    if (!this.hasRoom) return;
    const { clock, log } = this.#options;
    const waiting = new WaitingHelm({ release, key, clock, start, span });
    this.#waiting = waiting;
    waiting.expired.then(
      async () => await this.#dismiss(waiting),
      () => undefined,
    );
    waiting.outcome.catch((error: unknown) => {
      if (waiting.isStopped) return;
      log.debug({ release, error }, 'cannot start helm ahead');
      if (this.#waiting === waiting) this.#waiting = undefined;
    });
  }

  /** The helm that was prepared for this very run. One that was prepared for another run of the release is stopped. */
  async take(release: string, key: string): Promise<WaitingHelm | undefined> {
    const waiting = this.#waiting;
    if (waiting?.release !== release) return undefined;
    if (waiting.key !== key || waiting.hasEnded) {
      await this.#dismiss(waiting);
      return undefined;
    }
    this.#waiting = undefined;
    waiting.keep();
    return waiting;
  }

  /** Stops the helm that waits, if any; resolves when it has ended. */
  async dismiss(): Promise<void> {
    if (this.#waiting !== undefined) await this.#dismiss(this.#waiting);
  }

  async #dismiss(waiting: WaitingHelm): Promise<void> {
    if (this.#waiting !== waiting) return;
    this.#waiting = undefined;
    await waiting.stop();
  }
}

interface WaitingHelmOptions {
  readonly release: string;
  readonly key: string;
  readonly clock: SteadyClock;
  readonly start: (preparation: Preparation, signal: AbortSignal) => Promise<HelmOutcome>;
  readonly span: SpanContext | undefined;
}

/** A helm that waits for its values. */
export class WaitingHelm {
  readonly release: string;
  readonly key: string;
  /** The span that was passed to helm when it was started. */
  readonly span: SpanContext | undefined;
  readonly outcome: Promise<HelmOutcome>;
  /** Resolves when it has waited too long; rejects once it is taken or stopped. */
  readonly expired: Promise<void>;
  hasEnded = false;
  readonly #clock: SteadyClock;
  readonly #pipe = Promise.withResolvers<string>();
  readonly #taken = new AbortController();
  readonly #stopping = new AbortController();
  #decide: Decide = () => Promise.resolve({ type: 'cancel' });
  #values: unknown;

  constructor({ release, key, clock, start, span }: WaitingHelmOptions) {
    this.release = release;
    this.key = key;
    this.span = span;
    this.#clock = clock;
    const { signal } = this.#stopping;
    this.expired = clock.sleep(MAX_AGE_MS, AbortSignal.any([signal, this.#taken.signal]));
    const preparation: Preparation = {
      decide: (rendered) => this.#decide(rendered),
      onStart: (pipe) => this.#pipe.resolve(pipe),
      values: () => this.#values,
      span,
    };
    this.outcome = start(preparation, signal).finally(() => {
      this.hasEnded = true;
    });
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** From here on it does not expire. */
  keep(): void {
    this.#taken.abort();
  }

  /** Gives it its values, and waits until it has ended. @throws what `decide` throws; `signal.reason` on abort */
  async finish(values: unknown, decide: Decide, signal: AbortSignal): Promise<HelmOutcome> {
    this.#decide = decide;
    this.#values = values;
    const onAbort = (): void => this.#stopping.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const ended = new AbortController();
    try {
      // A helm that ends without reading says why itself.
      this.#feed(canonicalJson(values), ended.signal).catch(() => undefined);
      return await this.outcome;
    } finally {
      ended.abort();
      signal.removeEventListener('abort', onAbort);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.outcome.catch(() => undefined);
  }

  async #feed(text: string, signal: AbortSignal): Promise<void> {
    await writeToReader(await this.#pipe.promise, text, this.#clock, signal);
  }
}

const { O_WRONLY, O_NONBLOCK } = constants;
/** A process that has just been started needs some 50 ms until it reads. */
const READER_POLL_MS = 2;

/**
 * Writes a text to a named pipe once a reader has opened it: written before, it would be lost.
 *
 * @throws `signal.reason` when the signal aborts, as it has to when the reader has ended; EPIPE when the reader closes the pipe before it has
 * read everything
 */
export async function writeToReader(
  path: string,
  text: string,
  clock: SteadyClock,
  signal: AbortSignal,
): Promise<void> {
  let fd = openForReader(path);
  while (fd === undefined) {
    await clock.sleep(READER_POLL_MS, signal);
    fd = openForReader(path);
  }
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.end(text);
  await finished(socket, { readable: false, signal });
}

/** Undefined while there is no reader; never waits. */
function openForReader(path: string): number | undefined {
  try {
    return openSync(path, O_WRONLY | O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENXIO') return undefined;
    throw error;
  }
}
