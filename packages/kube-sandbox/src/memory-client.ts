import { OperatorError } from '@addon-operator/base/errors';
import { parseJson, stringifyJson } from '@addon-operator/json';
import { refusal } from '@addon-operator/kube-client/api-refusal';
import type { KubeClient, KubeRequest } from '@addon-operator/kube-client/kube-client';
import type { ApiRequest, ApiResponse, StreamResponse } from './api-request.ts';

/** Handles requests of the same process, such as a sandbox does. */
export interface MemoryApi {
  handle(request: ApiRequest): ApiResponse;
}

/** Counts what a client has under way, so that a test knows when all is quiet. */
export interface ClientActivity {
  /** A request is sent, which may lead to more. */
  touch(): void;
  /** A line of a watch is under way until the result is called. */
  begin(): () => void;
}

const JSON_TYPE = 'application/json';
const FIRST_REFUSAL = 300;

/**
 * A client without HTTP. Each line of a watch is counted as under way from the change until its reader has
 * handled it and takes the next one.
 */
export class MemoryClient implements KubeClient {
  readonly #api: MemoryApi;
  readonly #activity: ClientActivity;
  readonly #userAgent: string;

  constructor(api: MemoryApi, activity: ClientActivity, userAgent: string) {
    this.#api = api;
    this.#activity = activity;
    this.#userAgent = userAgent;
  }

  async request(request: KubeRequest, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    this.#activity.touch();
    const response = this.#respond(request);
    // A request never returns in the same turn as it is sent.
    await Promise.resolve();
    if (response.type === 'stream')
      throw new OperatorError('INTERNAL', `${request.method} ${request.path} is a watch`);
    return response.text.trim() === '' ? undefined : parseJson(response.text);
  }

  async stream(request: KubeRequest, signal: AbortSignal): Promise<AsyncIterable<string>> {
    signal.throwIfAborted();
    const response = this.#respond(request);
    await Promise.resolve();
    if (response.type === 'body')
      throw new OperatorError('INTERNAL', `${request.method} ${request.path} is no watch`);
    return readLines(response.run, this.#activity, signal);
  }

  #respond({ method, path, query = {}, body, contentType, accept }: KubeRequest): ApiResponse {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    );
    const response = this.#api.handle({
      method,
      path,
      query: new URLSearchParams(given as [string, string][]),
      accept: accept ?? JSON_TYPE,
      contentType: contentType ?? JSON_TYPE,
      ifNoneMatch: '',
      userAgent: this.#userAgent,
      body: Buffer.from(body === undefined ? '' : stringifyJson(body)),
    });
    if (response.type === 'body' && response.status >= FIRST_REFUSAL)
      throw refusal(`${method} ${path}`, {
        status: response.status,
        body: response.text,
        retryAfter: undefined,
      });
    return response;
  }
}

interface Line {
  readonly text: string;
  readonly done: () => void;
}

async function* readLines(
  run: StreamResponse['run'],
  activity: ClientActivity,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const lines: Line[] = [];
  let wake = (): void => undefined;
  let isEnded = false;
  const ended = new AbortController();
  const send = (text: string): boolean => {
    lines.push({ text: text.trimEnd(), done: activity.begin() });
    wake();
    return true;
  };
  void run(send, AbortSignal.any([signal, ended.signal])).finally(() => {
    isEnded = true;
    wake();
  });
  try {
    for (;;) {
      const line = lines.shift();
      if (line !== undefined) {
        try {
          yield line.text;
        } finally {
          line.done();
        }
      } else if (isEnded) break;
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
    }
    signal.throwIfAborted();
  } finally {
    ended.abort();
    for (const { done } of lines) done();
  }
}
