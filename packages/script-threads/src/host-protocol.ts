import type { RunDeadline } from '@addon-operator/process/run-deadline';

/** Strings by name, such as the contents of the files of a hook run. */
export type Strings = Readonly<Record<string, string>>;

/** Messages of the main process to the process of the workers; the main process numbers the workers. */
export type HostRequest =
  | StartRequest
  | ({ readonly worker: number } & WorkRequest)
  | ({ readonly worker: number } & QueryResponse)
  | { readonly type: 'abort'; readonly worker: number }
  | { readonly type: 'end'; readonly worker: number }
  /** No work may continue after it, even if the main process is gone. */
  | { readonly type: 'deadline'; readonly deadline: RunDeadline };

/** A new thread; `program` is the URL of the module that it runs, which loads the file at `path`. */
export interface StartRequest {
  readonly type: 'start';
  readonly worker: number;
  readonly program: string;
  readonly path: string;
  /** Where the worker reaches the main process without its main thread. */
  readonly line?: LineAddress;
}

/** `path`: of a socket; the token lets the main process know who connects. */
export interface LineAddress {
  readonly path: string;
  readonly token: string;
}

/** A piece of work. */
export type WorkRequest = RunRequest | CallRequest;

/** One run of a script. */
export interface RunRequest {
  readonly type: 'run';
  readonly inputs: Strings;
  /** Strings that seldom differ from those of the run before: each worker keeps them, and only what has changed is sent. */
  readonly keptInputs: Strings;
  /** Output beyond this is dropped and counted. */
  readonly maxOutputBytes?: number;
}

/** One call of a method of a script; `args` is a list as JSON. */
export interface CallRequest {
  readonly type: 'call';
  readonly method: string;
  readonly args: string;
  readonly maxOutputBytes?: number;
}

/** A request of a worker to the main process, whose response it waits for; `args` is a list as JSON. */
export interface Query {
  readonly type: 'query';
  /** No other one of this worker has it. */
  readonly query: number;
  readonly args: string;
}

/** `value` is JSON; without it there is none. */
export type QueryResponse =
  | { readonly type: 'response'; readonly query: number; readonly value?: string }
  | { readonly type: 'response'; readonly query: number; readonly failure: QueryFailure };

/** An error of the main process as a worker gets it. */
export interface QueryFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  readonly status?: number;
  readonly isPermanent?: boolean;
}

/** The result of a piece of work, as the worker reports it. */
export type WorkEnd =
  | { readonly type: 'done'; readonly outputs: Strings }
  /** A method returned; `value` is JSON, without it there is none. */
  | { readonly type: 'returned'; readonly value?: string }
  /** `query` names the request whose failure this is, or which caused it. */
  | {
      readonly type: 'failed';
      readonly reason: string;
      /** Further details of the failure, given by the program. */
      readonly details?: Strings;
      readonly query?: { readonly number: number; readonly is: 'same' | 'cause' };
    };

/** Messages of a worker. */
export type WorkerReply =
  /** The file is loaded; `description` is its own description, as JSON. */
  | { readonly type: 'ready'; readonly description: string }
  | { readonly type: 'load-failed'; readonly reason: string }
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | Query
  | (WorkEnd & RunFacts);

/** A message of a worker to its main thread alone: work begins and the memory is not watched yet. */
export interface WatchRequest {
  readonly type: 'watch';
}

/** Measurements that come with the end of a piece of work. */
export interface RunFacts {
  readonly droppedBytes: number;
  /** Timers that are still set although the run is over. */
  readonly leakedTimers: number;
  readonly userCpuMs: number;
  readonly systemCpuMs: number;
  /** Memory of the worker after the run: its heap, free parts included, and buffers. */
  readonly memoryBytes: number;
}

/** Messages to the main process: a reply of a worker, the end of a worker, or a report about the process itself. */
export type HostReply =
  | { readonly type: 'worker'; readonly worker: number; readonly reply: WorkerReply }
  | { readonly type: 'exited'; readonly worker: number; readonly reason: string }
  | { readonly type: 'over-limit'; readonly usedBytes: number };

/** A message as it goes over a stream: JSON in one line. */
export function messageLine(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}

/** Cuts a stream of text into the messages in it. */
export class MessageReader {
  readonly #onMessage: (message: unknown) => void;
  #rest = '';

  constructor(onMessage: (message: unknown) => void) {
    this.#onMessage = onMessage;
  }

  /** How many characters wait for the end of their message. */
  get restLength(): number {
    return this.#rest.length;
  }

  push(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const line = this.#rest + text.slice(start, end);
      this.#rest = '';
      start = end + 1;
      this.#onMessage(JSON.parse(line));
    }
    this.#rest += text.slice(start);
  }
}

/** The sending side of kept inputs: leaves out those that have not changed. */
export class InputsToSend {
  readonly #last = new Map<string, string>();

  /** The strings to send. They must be sent, and before anything else to the same worker. */
  next(inputs: Strings): Strings {
    const changed = Object.entries(inputs).filter(([name, input]) => this.#last.get(name) !== input);
    for (const [name, input] of changed) this.#last.set(name, input);
    return Object.fromEntries(changed);
  }
}

/** The receiving side: adds the inputs that were left out. */
export class ReceivedInputs {
  #last: Strings = {};

  next(changed: Strings): Strings {
    this.#last = { ...this.#last, ...changed };
    return this.#last;
  }
}
