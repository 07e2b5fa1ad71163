import { OperatorError } from '@addon-operator/base/errors';
import type { Activity } from '@addon-operator/hook-test/activity';
import { parseJson } from '@addon-operator/json';
import { refusal } from '@addon-operator/kube-client/api-refusal';
import type { KubeClient, KubeRequest } from '@addon-operator/kube-client/kube-client';

/** A Kubernetes API in this process. */
export interface MemoryApi {
  handle(request: MemoryRequest): MemoryResponse;
}

interface MemoryRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly contentType: string;
  readonly ifNoneMatch: string;
  readonly userAgent: string;
  readonly body: Uint8Array;
}

type MemoryResponse =
  | { readonly type: 'body'; readonly status: number; readonly text: string }
  | {
      readonly type: 'stream';
      readonly run: (send: (text: string) => boolean, signal: AbortSignal) => Promise<void>;
    };

const JSON_TYPE = 'application/json';
const FIRST_REFUSAL = 300;

/**
 * A client of an API in this process. Each line of a watch is counted as under way from the change until its reader has
 * handled it and takes the next one.
 */
export class MemoryClient implements KubeClient {
  readonly #api: MemoryApi;
  readonly #activity: Activity;
  readonly #userAgent: string;

  constructor(api: MemoryApi, activity: Activity, userAgent: string) {
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

  #respond({ method, path, query = {}, body, contentType, accept }: KubeRequest): MemoryResponse {
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
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
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
  run: Extract<MemoryResponse, { type: 'stream' }>['run'],
  activity: Activity,
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
