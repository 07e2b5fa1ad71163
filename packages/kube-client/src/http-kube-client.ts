// The client of the API server, used by reflectors, object patches, leases and the status writer; several
// clients can share one pool of connections. A request goes through the rate limit, a place among those in
// flight, the deadline, the throttle retries, the credentials, and a connection of the pool (`http-
// exchange.ts` sends it). Failures come out as KubeApiError, with the status of the server, or as
// OperatorError KUBE_UNREACHABLE, when there was no response; callers decide about further retries.

import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { runInPlace } from '@addon-operator/concurrency/bounded-work';
import type { TokenBucket } from '@addon-operator/concurrency/token-bucket';
import { parseJson, stringifyJson } from '@addon-operator/json';
import PQueue from 'p-queue';
import type { RequestOutcome } from './api-health.ts';
import { refusal } from './api-refusal.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { ConnectionPool, type Purpose } from './connection-pool.ts';
import type { CredentialStore } from './credentials.ts';
import { withDeadline } from './deadline.ts';
import { NotSentError, readBody, readLines, StaleConnectionError, sendRequest } from './http-exchange.ts';
import type { HttpMethod, KubeApiError, KubeClient, KubeRequest } from './kube-client.ts';
import { pathTemplate } from './request-path.ts';
import { requestedDelayMs, retryAfterLimitSeconds } from './retry.ts';

/** One request that came to an end, for metrics. */
export interface RequestObservation {
  readonly verb: HttpMethod | 'WATCH';
  /** Undefined when there was no response. */
  readonly status: number | undefined;
  /** Why there was no response; undefined when there was one. */
  readonly error?: unknown;
  /** Up to the end of the body; of a stream, up to its headers. */
  readonly durationMs: number;
  /** The path without query and names, see {@link pathTemplate}. */
  readonly pathTemplate: string;
}

export interface HttpKubeClientOptions {
  readonly access: ClusterAccess;
  readonly credentials: Pick<CredentialStore, 'current' | 'refresh'>;
  /**
   * Connections that are shared with other clients of the same `access` and `credentials`: an idle one serves whichever
   * client needs it next. {@link HttpKubeClient.close} closes them for all of these clients. Default: connections of its own.
   */
  readonly pool?: ConnectionPool;
  readonly clock: SteadyClock;
  /** Numbers in [0, 1), for jitter. */
  readonly random: () => number;
  /** Sent in the User-Agent header. */
  readonly version: string;
  /** Limit on the rate of requests; default: none, as the API server has its own by priority and fairness. */
  readonly limiter?: Pick<TokenBucket, 'take'>;
  /** For requests that name none; default 60 000. */
  readonly requestTimeoutMs?: number;
  /** Default 10 000. */
  readonly connectTimeoutMs?: number;
  readonly onRequest?: (observation: RequestObservation) => void;
  /**
   * Called right before each request other than GET is written to its connection. If it throws, the request fails with
   * that error and nothing is sent; leader election uses it to stop the writes of a replica that lost its lease.
   */
  readonly beforeWrite?: () => void;
}

const REQUEST_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** After 429: a client that is still refused then should report it instead of waiting longer. */
const MAX_THROTTLE_RETRIES = 4;
/** Every idle connection of the pool may be stale after a network change. */
const MAX_STALE_RETRIES = 5;
/** Requests in flight, without watches. More of them do not make a slow server faster; they would only time out. */
const MAX_IN_FLIGHT = 16;

const unzip = promisify(gunzip);

/**
 * KubeClient over HTTP/1.1 with keep-alive connections, those of watches apart.
 *
 * A request is repeated only where that is safe: after 429 (up to four times, at the pace of Retry-After, within its
 * deadline), once after 401 with credentials read anew, and a GET whose idle connection turned out to be closed. A
 * write whose outcome is unknown is not repeated but fails with KUBE_UNREACHABLE. At most 16 requests are
 * in flight at once. Waiting for one of these places, or for the rate limit, does not count against the deadline.
 */
export class HttpKubeClient implements KubeClient {
  readonly #options: HttpKubeClientOptions;
  readonly #pool: ConnectionPool;
  readonly #inFlight = new PQueue({ concurrency: MAX_IN_FLIGHT });

  constructor(options: HttpKubeClientOptions) {
    this.#options = options;
    this.#pool = options.pool ?? new ConnectionPool(options.access);
  }

  async request(request: KubeRequest, signal: AbortSignal): Promise<unknown> {
    await this.#options.limiter?.take(signal);
    return runInPlace(
      this.#inFlight,
      () =>
        withDeadline(this.#deadlineOf(request), signal, (signal) => this.#requestPatiently(request, signal)),
      signal,
    );
  }

  async stream(request: KubeRequest, signal: AbortSignal): Promise<AsyncIterable<string>> {
    // A watch is opened once for minutes, and its reopening has a back-off: it needs no limit of rate.
    const response = await withDeadline(this.#deadlineOf(request), signal, async (signal) => {
      const response = await this.#observed(request, 'WATCH', () => this.#send(request, 'watch', signal));
      if (isSuccess(response)) return response;
      throw refusalOf(request, response, await this.#bodyOf(request, response, signal));
    });
    const onAbort = (): void => {
      response.destroy();
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    response.once('close', () => signal.removeEventListener('abort', onAbort));
    return this.#lines(request, response, signal);
  }

  /** Closes all connections, those of a shared pool included; running requests fail. */
  close(): void {
    this.#pool.close();
  }

  /**
   * Repeats after 429 while retries and the deadline allow it. A 429 means that the server did not start the
   * request, so writes are repeated too.
   */
  async #requestPatiently(request: KubeRequest, signal: AbortSignal): Promise<unknown> {
    const { clock, limiter } = this.#options;
    const endMs = clock.steadyMs() + this.#limitMs(request);
    for (let retries = 0; ; retries += 1) {
      const outcome = await this.#requestOnce(request, signal);
      if (outcome.type === 'answer') return outcome.value;
      const delayMs = this.#throttleDelayMs(outcome.error);
      if (delayMs === undefined || retries >= MAX_THROTTLE_RETRIES || clock.steadyMs() + delayMs >= endMs) {
        throw outcome.error;
      }
      await clock.sleep(delayMs, signal);
      await limiter?.take(signal);
    }
  }

  /** The pause after a 429; undefined for other refusals. Without a Retry-After it is one second. */
  #throttleDelayMs(error: KubeApiError): number | undefined {
    if (error.status !== 429) return undefined;
    return requestedDelayMs(
      error.retryAfterSeconds ?? 1,
      retryAfterLimitSeconds(error),
      this.#options.random,
    );
  }

  /** One request with its whole body. A refusal is a result, since it may be retried; no response throws. */
  async #requestOnce(
    request: KubeRequest,
    signal: AbortSignal,
  ): Promise<{ type: 'answer'; value: unknown } | { type: 'refused'; error: KubeApiError }> {
    let body = '';
    const response = await this.#observed(request, request.method, async () => {
      const response = await this.#send(request, 'request', signal);
      body = await this.#bodyOf(request, response, signal);
      return response;
    });
    if (!isSuccess(response)) return { type: 'refused', error: refusalOf(request, response, body) };
    if (body === '') return { type: 'answer', value: undefined };
    try {
      return { type: 'answer', value: parseJson(body) };
    } catch (error) {
      const problem =
        error instanceof SyntaxError
          ? 'the response is not JSON; is this an API server?'
          : `the response of ${body.length} characters cannot be read: ${messageOf(error)}`;
      throw this.#unreachable(request, problem);
    }
  }

  /** Resolves with the headers of a response, after a second attempt if the first was refused for its credentials. */
  async #send(request: KubeRequest, purpose: Purpose, signal: AbortSignal): Promise<IncomingMessage> {
    const { credentials } = this.#options;
    const response = await this.#sendWith(request, purpose, await credentials.current(signal), signal);
    if (response.statusCode !== 401) return response;
    // The connection returns to the pool only after its body is read.
    response.resume();
    return this.#sendWith(request, purpose, await credentials.refresh(signal), signal);
  }

  /** Sends until a GET meets a connection that is not stale. A write is not repeated: it may have arrived. */
  async #sendWith(
    request: KubeRequest,
    purpose: Purpose,
    credentials: Awaited<ReturnType<CredentialStore['current']>>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { clock, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    const body = request.body === undefined ? undefined : stringifyJson(request.body);
    const headers = this.#headersOf(request, purpose, body, credentials.authorization);
    for (let stale = 0; ; stale += 1) {
      const agent = this.#pool.agentFor(purpose, credentials);
      const beforeSend = this.#beforeSend(request);
      const url = this.#urlOf(request);
      const outgoing = {
        url,
        method: request.method,
        headers,
        body,
        agent,
        ...(beforeSend && { beforeSend }),
      };
      try {
        return await sendRequest(outgoing, { clock, connectTimeoutMs }, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        if (error instanceof NotSentError) throw error.cause;
        const isRepeatable = error instanceof StaleConnectionError && request.method === 'GET';
        if (!isRepeatable || stale >= MAX_STALE_RETRIES) {
          throw this.#unreachable(request, messageOf(error), error);
        }
      }
    }
  }

  /** The checks before a write, made when the connection is open: opening it may have taken seconds. */
  #beforeSend(request: KubeRequest): (() => void) | undefined {
    if (request.method === 'GET') return undefined;
    const { clock, beforeWrite } = this.#options;
    return () => {
      beforeWrite?.();
      if (request.sendBeforeMs !== undefined && clock.steadyMs() >= request.sendBeforeMs)
        throw this.#unreachable(request, 'it could not be sent in time');
    };
  }

  /** The headers of one attempt; a retry with new credentials gets new ones. */
  #headersOf(
    request: KubeRequest,
    purpose: Purpose,
    body: string | undefined,
    authorization: string | undefined,
  ): Record<string, string> {
    return {
      accept: request.accept ?? 'application/json',
      'user-agent': `addon-operator/${this.#options.version}`,
      // A compressed watch would hold events back.
      ...(purpose === 'request' && request.method === 'GET' ? { 'accept-encoding': 'gzip' } : {}),
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined
        ? {}
        : {
            'content-type': request.contentType ?? 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
    };
  }

  #urlOf(request: KubeRequest): URL {
    const base = this.#options.access.server;
    const url = new URL(base + request.path);
    // A name like `..` would silently address something else.
    if (!url.pathname.endsWith(request.path)) {
      throw new OperatorError('INTERNAL', `Cannot request ${titleOf(request)}: not a normal URL path`);
    }
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return url;
  }

  /** The whole body as a string; a body that is cut short throws KUBE_UNREACHABLE. */
  async #bodyOf(request: KubeRequest, response: IncomingMessage, signal: AbortSignal): Promise<string> {
    try {
      const bytes = await readBody(response, signal);
      return (response.headers['content-encoding'] === 'gzip' ? await unzip(bytes) : bytes).toString('utf8');
    } catch (error) {
      if (signal.aborted) throw error;
      throw this.#unreachable(request, `the response was cut off (${messageOf(error)})`, error);
    }
  }

  /** The lines of a watch; a broken connection throws KUBE_UNREACHABLE, a regular end just ends. */
  async *#lines(
    request: KubeRequest,
    response: IncomingMessage,
    signal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    try {
      yield* readLines(response);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#unreachable(request, `the stream broke (${messageOf(error)})`, error);
    } finally {
      response.destroy();
    }
    signal.throwIfAborted();
  }

  /** Reports the request to `onRequest`, however it ended. */
  async #observed(
    request: KubeRequest,
    verb: RequestObservation['verb'],
    send: () => Promise<IncomingMessage>,
  ): Promise<IncomingMessage> {
    const { clock, onRequest } = this.#options;
    const startMs = clock.steadyMs();
    let outcome: RequestOutcome = { status: undefined };
    try {
      const response = await send();
      outcome = { status: response.statusCode };
      return response;
    } catch (error) {
      outcome = { status: undefined, error };
      throw error;
    } finally {
      onRequest?.({
        verb,
        ...outcome,
        durationMs: clock.steadyMs() - startMs,
        pathTemplate: pathTemplate(request.path),
      });
    }
  }

  /** Time limit of a request. */
  #limitMs(request: KubeRequest): number {
    return request.timeoutMs ?? this.#options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  }

  #deadlineOf(request: KubeRequest): Parameters<typeof withDeadline>[0] {
    const limitMs = this.#limitMs(request);
    return {
      clock: this.#options.clock,
      limitMs,
      error: () => this.#unreachable(request, `no response within ${limitMs / 1_000} s`),
    };
  }

  /** No usable response. The message names server and request; whether a write was carried out is unknown. */
  #unreachable(request: KubeRequest, problem: string, cause?: unknown): OperatorError {
    const { server } = this.#options.access;
    const message = `Cannot reach the API server ${server} for ${titleOf(request)}: ${problem}`;
    return new OperatorError('KUBE_UNREACHABLE', message, { cause });
  }
}

/** Method and path, for messages. */
function titleOf(request: KubeRequest): string {
  return `${request.method} ${request.path}`;
}

function refusalOf(request: KubeRequest, response: IncomingMessage, body: string): KubeApiError {
  const { statusCode: status = 0, headers } = response;
  return refusal(titleOf(request), { status, body, retryAfter: headers['retry-after'] });
}

function isSuccess(response: IncomingMessage): boolean {
  const status = response.statusCode ?? 0;
  return status >= 200 && status < 300;
}
