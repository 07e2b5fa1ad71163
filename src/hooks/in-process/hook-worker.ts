import type { Clock } from '../../lib/clock.ts';
import type { HostProcess, WorkerEvent } from './host-process.ts';
import type { HostRequest } from './host-protocol.ts';

type Output = Extract<WorkerEvent, { readonly type: 'output' }>;

/** How a piece of work of a worker ended. */
export type WorkerAnswer = Exclude<WorkerEvent, Output> | { readonly type: 'timed-out' };

export interface WorkLimits {
  /** Undefined: it may go on for ever. */
  readonly timeoutMs: number | undefined;
  /** Between the abort of the input's signal and the end of the worker, in milliseconds. */
  readonly graceMs: number;
  readonly clock: Clock;
  readonly onOutput: (output: Output) => void;
}

/** Without a reason of ours each abort would make an exception of its own. */
const ENDED = 'the work has ended';

/** A thread with one hook loaded. It does one thing at a time. */
export class HookWorker {
  readonly #host: HostProcess;
  readonly #number: number;
  readonly #path: string;
  #work:
    | { readonly settle: (answer: WorkerAnswer) => void; readonly onOutput: WorkLimits['onOutput'] }
    | undefined;
  #isGone = false;

  constructor(host: HostProcess, path: string) {
    this.#host = host;
    this.#path = path;
    this.#number = host.add({
      onEvent: (event) => this.#onEvent(event),
      isBusy: () => this.#work !== undefined,
    });
  }

  get isGone(): boolean {
    return this.#isGone || this.#host.isGone;
  }

  /** Starts the thread and loads the file: ends with `ready`, or in some other way. */
  load(limits: WorkLimits, signal: AbortSignal): Promise<WorkerAnswer> {
    return this.#do({ type: 'start', worker: this.#number, path: this.#path }, limits, signal);
  }

  /** One run: ends with `done` or `failed`, or in some other way. */
  run(
    request: Omit<Extract<HostRequest, { readonly type: 'run' }>, 'worker'>,
    limits: WorkLimits,
    signal: AbortSignal,
  ): Promise<WorkerAnswer> {
    return this.#do({ ...request, worker: this.#number }, limits, signal);
  }

  end(): void {
    this.#host.send({ type: 'end', worker: this.#number });
  }

  /**
   * Asks for something and waits for its end. When its time is up, or the signal aborts, the hook is told so, and after
   * the grace its thread is ended; when even that does not help, the process of the threads.
   *
   * @throws `signal.reason` on abort, when the hook has come to its end
   */
  async #do(request: HostRequest, limits: WorkLimits, signal: AbortSignal): Promise<WorkerAnswer> {
    signal.throwIfAborted();
    if (this.#host.isGone)
      return { type: 'host-gone', reason: 'it was not running any more', wasAlone: false };
    const answer = Promise.withResolvers<WorkerAnswer>();
    const { clock, graceMs, timeoutMs, onOutput } = limits;
    this.#work = { settle: answer.resolve, onOutput };
    const ended = new AbortController();
    let isTimedOut = false;
    const stop = async (): Promise<void> => {
      this.#host.send({ type: 'abort', worker: this.#number });
      await clock.sleep(graceMs, ended.signal);
      this.end();
      await clock.sleep(graceMs, ended.signal);
      await this.#host.kill('it could not be stopped');
    };
    // What is left to be waited for when the work has ended is of no interest.
    const onAbort = (): void => void stop().catch(() => undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    if (timeoutMs !== undefined) {
      clock.sleep(timeoutMs, ended.signal).then(
        () => {
          isTimedOut = true;
          onAbort();
        },
        () => undefined,
      );
    }
    try {
      this.#host.send(request);
      const result = await answer.promise;
      signal.throwIfAborted();
      return isTimedOut ? { type: 'timed-out' } : result;
    } finally {
      this.#work = undefined;
      ended.abort(ENDED);
      signal.removeEventListener('abort', onAbort);
    }
  }

  #onEvent(event: WorkerEvent): void {
    if (event.type === 'output') return this.#work?.onOutput(event);
    if (event.type === 'exited' || event.type === 'host-gone') this.#isGone = true;
    this.#work?.settle(event);
  }
}
