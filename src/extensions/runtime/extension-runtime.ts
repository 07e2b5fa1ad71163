import { isPermanent, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { type Json, parseJson } from '@addon-operator/json';
import type { Query, QueryFailure, QueryResponse } from '@addon-operator/script-threads/host-protocol';
import { type WorkerResponse, whyNot } from '@addon-operator/script-threads/script-worker';
import type { WorkerPools } from '@addon-operator/script-threads/worker-pools';
import { outputTo } from '../../hooks/in-process/script-output.ts';
import { ownProgram } from '../../own-code.ts';

const PROGRAM = ownProgram('extensions/runtime/extension-worker-main').href;
/** The time limit for loading a file, in milliseconds. */
const LOAD_TIMEOUT_MS = 30_000;
/** One shared reason: each abort without a reason would create an exception. */
const ENDED = 'the call of the extension has ended';

/** A loaded file, with its description of itself. */
export interface LoadedExtension {
  readonly path: string;
  /** The kind of its extensions. */
  readonly type: string;
  readonly description: Json;
  /** The methods that can be called. */
  readonly methods: readonly string[];
}

export interface ExtensionCallRequest {
  /** A file that was loaded. */
  readonly path: string;
  readonly method: string;
  /** The name of the call in messages; default: the method and its file. */
  readonly title?: string;
  readonly args: readonly Json[];
  /**
   * The default behaviour that the extension gets as `next`, with the arguments it gives. The
   * signal aborts when the call ends. Without it, calling `next` fails. It must not call the same
   * file again, which would wait for itself.
   */
  readonly next?: (args: readonly Json[], signal: AbortSignal) => Promise<Json | undefined>;
  /** `optional`: it may return undefined. */
  readonly returns: 'value' | 'optional';
  /** Default: the limit of the runtime. The time that `next` takes does not count. */
  readonly timeoutMs?: number;
  /** Receives the logs and the output of the extension. */
  readonly log: Logger;
}

/** Files with extensions: loads them, and calls their methods. */
export interface Extensions {
  /**
   * Loads a file again; running calls keep the old version.
   *
   * @param log receives the output of the file while it is loaded
   * @throws OperatorError EXTENSION_INVALID when it cannot be loaded, or not in time;
   *   `signal.reason` on abort
   */
  load(file: string, log: Logger, signal: AbortSignal): Promise<LoadedExtension>;
  /**
   * Calls a method and returns its result.
   *
   * @throws OperatorError EXTENSION_FAILED; the original error of `next` if the extension passed it
   *   on
   * @throws `signal.reason` on abort, after the extension and each `next` have ended
   */
  call(request: ExtensionCallRequest, signal: AbortSignal): Promise<Json | undefined>;
}

export interface ExtensionRuntimeOptions {
  readonly pools: WorkerPools;
  /** The limit of a call that sets none itself, in milliseconds. */
  readonly timeoutMs: number;
  /** The number of bytes of output that are logged per call; undefined: no limit. */
  readonly maxOutputBytes: number | undefined;
  /** Called before a file is loaded or called, which fails with its error. */
  readonly check: () => void;
}

/**
 * Runs extensions in threads of the process that runs script hooks. Extension points and flow hooks
 * call it; each call is one message to the thread of the file and one response, with messages for
 * `next` in between. A thread that dies or hangs fails the call, never the daemon.
 */
export class ExtensionRuntime implements Extensions {
  readonly #options: ExtensionRuntimeOptions;

  constructor(options: ExtensionRuntimeOptions) {
    this.#options = options;
  }

  async load(file: string, log: Logger, signal: AbortSignal): Promise<LoadedExtension> {
    const { check, pools } = this.#options;
    check();
    const output = outputTo(log);
    const work = { timeoutMs: LOAD_TIMEOUT_MS, onOutput: output.push };
    const response = await pools.load({ program: PROGRAM, path: file }, work, signal).finally(output.end);
    if (response.type === 'ready')
      return { path: file, ...(parseJson(response.description) as Omit<LoadedExtension, 'path'>) };
    throw new OperatorError(
      'EXTENSION_INVALID',
      `cannot load extension '${file}': ${whyNot(response, LOAD_TIMEOUT_MS)}`,
    );
  }

  async call(request: ExtensionCallRequest, signal: AbortSignal): Promise<Json | undefined> {
    const { check, pools, maxOutputBytes } = this.#options;
    check();
    const { path: file, method, args, log, timeoutMs = this.#options.timeoutMs } = request;
    const output = outputTo(log);
    const nexts = new Nexts(request.next, signal);
    try {
      const response = await pools.do(
        file,
        {
          type: 'call',
          method,
          args: JSON.stringify(args),
          ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
        },
        {
          timeoutMs,
          onOutput: output.push,
          onQuery: (query) => nexts.response(query),
          // A dead thread is replaced and the call repeated, but not after `next`, whose effects
          // would happen twice.
          canRepeat: () => !nexts.wasCalled,
        },
        signal,
      );
      if ('leakedTimers' in response && response.leakedTimers > 0)
        log.warn({ timers: response.leakedTimers }, 'an extension left timers behind; they are cancelled');
      return resultOf(request, response, nexts, timeoutMs);
    } finally {
      output.end();
      // The caller may act only when nothing of the call runs any more.
      await nexts.end();
    }
  }
}

function resultOf(
  { path: file, method, title = `${method} of the extension '${file}'`, returns }: ExtensionCallRequest,
  response: WorkerResponse,
  nexts: Nexts,
  timeoutMs: number,
): Json | undefined {
  const failed = (reason: string, cause?: unknown): OperatorError =>
    new OperatorError('EXTENSION_FAILED', `${title} failed: ${reason}`, { cause });
  if (response.type === 'returned') {
    if (response.value !== undefined) return parseJson(response.value) as Json;
    if (returns === 'optional') return undefined;
    throw failed('it returned nothing, but must return a value');
  }
  if (response.type !== 'failed' || response.query === undefined) throw failed(whyNot(response, timeoutMs));
  // The original error has its code and cause, which the thread's copy lacks.
  const error = nexts.failureOf(response.query.number);
  throw response.query.is === 'same' ? error : failed(response.reason, error);
}

/** The calls of `next` within one call of an extension. */
class Nexts {
  readonly #next: ExtensionCallRequest['next'];
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  readonly #open = new Set<Promise<QueryResponse>>();
  readonly #failures = new Map<number, unknown>();
  wasCalled = false;

  constructor(next: ExtensionCallRequest['next'], signal: AbortSignal) {
    this.#next = next;
    this.#signal = AbortSignal.any([signal, this.#ended.signal]);
  }

  /** Never rejects: a failure is part of the response. */
  async response(query: Query): Promise<QueryResponse> {
    this.wasCalled = true;
    const responding = this.#response(query);
    this.#open.add(responding);
    const response = await responding;
    this.#open.delete(responding);
    return response;
  }

  async #response({ query, args }: Query): Promise<QueryResponse> {
    try {
      if (this.#next === undefined)
        throw new OperatorError('EXTENSION_FAILED', 'this extension point has no next()');
      const value = await this.#next(parseJson(args) as readonly Json[], this.#signal);
      return { type: 'response', query, ...(value === undefined ? {} : { value: JSON.stringify(value) }) };
    } catch (error) {
      this.#failures.set(query, error);
      return { type: 'response', query, failure: nextFailureOf(error) };
    }
  }

  failureOf(query: number): unknown {
    return this.#failures.get(query);
  }

  /** Ends the open calls; resolves when none is running. */
  async end(): Promise<void> {
    this.#ended.abort(ENDED);
    await Promise.all(this.#open);
  }
}

/** An error of the daemon in the form that an extension gets. */
function nextFailureOf(error: unknown): QueryFailure {
  const code = fieldOf(error, 'code');
  const status = fieldOf(error, 'status');
  return {
    name: error instanceof Error ? error.name : 'Error',
    message: messageOf(error),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
    ...(isPermanent(error) ? { isPermanent: true } : {}),
  };
}

/** A field of an error, or of the nearest cause that has it. */
function fieldOf(error: unknown, key: string): unknown {
  for (let each = error; typeof each === 'object' && each !== null; each = causeOf(each)) {
    const value: unknown = Reflect.get(each, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

function causeOf(error: object): unknown {
  return error instanceof Error ? error.cause : undefined;
}
