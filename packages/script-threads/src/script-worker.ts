// One thread with one script, as the main process sees it: `load`, then `work` again and again, one at a
// time. Each request has a time limit, which is suspended while the script waits for a response of the main
// process. A script that does not end is aborted, then its thread is ended, and at last its process.

import type { SteadyClock } from '@addon-operator/base/clock';
import type { HostProcess, WorkerEvent } from './host-process.ts';
import {
  type HostRequest,
  InputsToSend,
  type Query,
  type QueryResponse,
  type WorkRequest,
} from './host-protocol.ts';
import { TimeLimit } from './time-limit.ts';

/** A file that is run in threads. */
export interface Script {
  readonly path: string;
  /** The URL of the module that the thread runs: it loads the file, and knows what to do with it. */
  readonly program: string;
}

/** A part of what a script prints. */
export type Output = Extract<WorkerEvent, { readonly type: 'output' }>;

/** How a piece of work of a worker ended. */
export type WorkerResponse = Exclude<WorkerEvent, Output | Query> | { readonly type: 'timed-out' };

export interface WorkLimits {
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Between the abort of the work and the end of the worker, in milliseconds. */
  readonly graceMs: number;
  readonly clock: SteadyClock;
}

/** Callbacks for messages of a worker before its work has ended. */
export interface WorkEvents {
  readonly onOutput: (output: Output) => void;
  /** Never rejects. The time limit is suspended until it resolves. */
  readonly onQuery?: (query: Query) => Promise<QueryResponse>;
}

/** The piece of work in progress. */
interface OpenWork {
  readonly settle: (response: WorkerResponse) => void;
  readonly events: WorkEvents;
  readonly limit: TimeLimit | undefined;
}

/** Reason with which waits are aborted; without it each abort would create an exception. */
const ENDED = 'the work has ended';

/** A thread with one script loaded. It does one thing at a time. */
export class ScriptWorker {
  readonly #host: HostProcess;
  readonly #number: number;
  readonly #script: Script;
  readonly #inputs = new InputsToSend();
  #work: OpenWork | undefined;
  #isGone = false;

  constructor(host: HostProcess, script: Script) {
    this.#host = host;
    this.#script = script;
    this.#number = host.add({
      onEvent: (event) => this.#onEvent(event),
      isBusy: () => this.#work !== undefined,
    });
  }

  get isGone(): boolean {
    return this.#isGone || this.#host.isEnding;
  }

  /** Starts the thread and loads the file: ends with `ready`, or with a failure. */
  load(limits: WorkLimits, events: WorkEvents, signal: AbortSignal): Promise<WorkerResponse> {
    const { program, path } = this.#script;
    const request = { type: 'start', worker: this.#number, program, path } as const;
    return this.#do(() => request, limits, events, signal);
  }

  /** One piece of work: ends with `done`, `returned` or `failed`, or when its thread ends. */
  work(
    request: WorkRequest,
    limits: WorkLimits,
    events: WorkEvents,
    signal: AbortSignal,
  ): Promise<WorkerResponse> {
    const worker = this.#number;
    if (request.type === 'call') return this.#do(() => ({ ...request, worker }), limits, events, signal);
    const { keptInputs } = request;
    const sent = () => ({ ...request, worker, keptInputs: this.#inputs.next(keptInputs) });
    return this.#do(sent, limits, events, signal);
  }

  /** Ends the thread; work in progress ends with `exited`. */
  end(): void {
    this.#host.send({ type: 'end', worker: this.#number });
  }

  /**
   * Sends a request and waits for its end. When its time is up, or the signal aborts, the script is notified, and
   * after the grace its thread is ended; when even that does not help, the process of the threads.
   *
   * @throws `signal.reason` on abort, when the script has come to its end
   */
  async #do(
    request: () => HostRequest,
    limits: WorkLimits,
    events: WorkEvents,
    signal: AbortSignal,
  ): Promise<WorkerResponse> {
    signal.throwIfAborted();
    if (this.#host.isEnding)
      return { type: 'host-gone', reason: 'it was no longer running', wasAlone: false };
    const response = Promise.withResolvers<WorkerResponse>();
    const { clock, graceMs, timeoutMs } = limits;
    let ended: AbortController | undefined;
    let isTimedOut = false;
    const stop = async (): Promise<void> => {
      ended ??= new AbortController();
      this.#host.send({ type: 'abort', worker: this.#number });
      await clock.sleep(graceMs, ended.signal);
      this.end();
      await clock.sleep(graceMs, ended.signal);
      // It may have ended at this very moment, and others use the process by now.
      ended.signal.throwIfAborted();
      await this.#host.kill('it could not be stopped');
    };
    // What is left to be waited for when the work has ended is of no interest.
    const onAbort = (): void => void stop().catch(() => undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    const onOver = (): void => {
      isTimedOut = true;
      onAbort();
    };
    const limit = timeoutMs === undefined ? undefined : new TimeLimit(timeoutMs, clock, onOver);
    this.#work = { settle: response.resolve, events, limit };
    try {
      this.#host.send(request());
      const result = await response.promise;
      signal.throwIfAborted();
      return isTimedOut ? { type: 'timed-out' } : result;
    } finally {
      this.#work = undefined;
      limit?.end();
      ended?.abort(ENDED);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Output and queries belong to the open work; every other event ends it. */
  #onEvent(event: WorkerEvent): void {
    const work = this.#work;
    if (event.type === 'output') return work?.events.onOutput(event);
    if (event.type === 'query') return void (work !== undefined && this.#response(event, work));
    if (event.type === 'exited' || event.type === 'host-gone') this.#isGone = true;
    work?.settle(event);
  }

  /** Answers a query, unless its work has ended in the meantime. */
  async #response(query: Query, work: OpenWork): Promise<void> {
    work.limit?.pause();
    const response = await work.events.onQuery?.(query);
    work.limit?.resume();
    if (response !== undefined && this.#work === work) this.#host.send({ ...response, worker: this.#number });
  }
}

/** The reason why a response is no result. */
export function whyNot(response: WorkerResponse, timeoutMs: number | undefined): string {
  switch (response.type) {
    case 'ready':
    case 'done':
    case 'returned':
      return 'it has no result';
    case 'timed-out':
      return `it ran longer than its limit of ${(timeoutMs ?? 0) / 1_000} s`;
    case 'load-failed':
    case 'failed':
    case 'exited':
    case 'host-gone':
      return response.reason;
  }
}
