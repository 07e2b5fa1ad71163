// HTTP below `registry-endpoint.ts`: keep-alive connections, deadlines, redirects, bodies with a limit. What fails without a
// status is an OperatorError REGISTRY_UNREACHABLE here; what a status means is decided above.

import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import { getCACertificates } from 'node:tls';
import type { SteadyClock } from '@addon-operator/base/clock';
import { errorText } from '@addon-operator/base/error-text';
import { OperatorError } from '@addon-operator/base/errors';
import { StaleConnectionError, sendRequest } from '@addon-operator/kube-client/http-exchange';

export interface ConnectionOptions {
  readonly clock: SteadyClock;
  /** Certificates of authorities (PEM) that are trusted in addition to those of the system. */
  readonly ca?: string | undefined;
  /** For the headers of a response, and for each further piece of its body. Default 30 s. */
  readonly responseTimeoutMs?: number;
}

export interface RegistryRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is opened anew for each attempt. */
  readonly body?: Uint8Array | (() => AsyncIterable<Uint8Array>) | undefined;
}

const CONNECT_TIMEOUT_MS = 10_000;
const RESPONSE_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 5;
/** Every idle connection may be stale after a network change. */
const MAX_STALE_RETRIES = 5;
const MAX_DISCARDED_BYTES = 65_536;
const MS_PER_SECOND = 1_000;
const REDIRECTS = [301, 302, 303, 307, 308];

const UNTRUSTED = 'its certificate is of an authority that is not trusted; trust it as a CA of the source';

/** Why a certificate is not trusted, by the code of OpenSSL or Node. */
const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; is the clock right?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; trust it as a CA of the source',
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  EPROTO: 'it does not speak TLS; only localhost and loopback addresses may be without',
};

/** Connections that repositories with the same authorities share. */
export class RegistryConnections {
  readonly #options: ConnectionOptions;
  readonly #agents: Readonly<Record<string, HttpAgent>>;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const keepAlive = { keepAlive: true, timeout: IDLE_TIMEOUT_MS };
    const { ca } = options;
    const trusted = ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] };
    this.#agents = {
      'http:': new HttpAgent(keepAlive),
      'https:': new HttpsAgent({ ...keepAlive, ...trusted }),
    };
  }

  /**
   * Sends a request and follows redirects; to another host without its header Authorization, and never from https to http.
   *
   * @throws OperatorError REGISTRY_UNREACHABLE if there is no response; `signal.reason` when it aborts
   */
  async send(request: RegistryRequest, signal: AbortSignal): Promise<RegistryResponse> {
    let current = request;
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#sendOnce(current, signal);
      const { location } = response.headers;
      if (!REDIRECTS.includes(response.status) || location === undefined) return response;
      await response.discard();
      if (redirects === MAX_REDIRECTS)
        throw unreachable(request.url, `it redirects more than ${MAX_REDIRECTS} times`);
      current = redirected(current, location);
    }
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #sendOnce(request: RegistryRequest, outer: AbortSignal): Promise<RegistryResponse> {
    const { clock } = this.#options;
    const { url, method, headers } = request;
    const agent = this.#agents[url.protocol];
    if (agent === undefined) throw unreachable(url, 'it is neither http nor https');
    for (let stale = 0; ; stale += 1) {
      const wait = new Wait(url, this.#options, outer);
      const body =
        typeof request.body === 'function'
          ? Readable.from(wait.whileSending(request.body()), { objectMode: false })
          : request.body;
      try {
        wait.start();
        const sent = { url, method, headers, body, agent };
        return new RegistryResponse(
          url,
          await sendRequest(sent, { clock, connectTimeoutMs: CONNECT_TIMEOUT_MS }, wait.signal),
          wait,
        );
      } catch (error) {
        if (!(error instanceof StaleConnectionError) || stale === MAX_STALE_RETRIES)
          throw wait.failure(error);
      } finally {
        wait.stop();
      }
    }
  }
}

/** Limits how long one exchange waits for the other side, which is aborted then. The time of its own side does not count. */
class Wait {
  /** Aborts with that of the caller too. */
  readonly signal: AbortSignal;
  readonly #url: URL;
  readonly #options: ConnectionOptions;
  readonly #expired = new AbortController();
  #running = new AbortController();

  constructor(url: URL, options: ConnectionOptions, outer: AbortSignal) {
    this.#url = url;
    this.#options = options;
    this.signal = AbortSignal.any([outer, this.#expired.signal]);
  }

  start(): void {
    const { clock, responseTimeoutMs = RESPONSE_TIMEOUT_MS } = this.#options;
    this.stop();
    this.#running = new AbortController();
    clock.sleep(responseTimeoutMs, this.#running.signal).then(
      () =>
        this.#expired.abort(
          unreachable(this.#url, `no response within ${responseTimeoutMs / MS_PER_SECOND} s`),
        ),
      () => undefined,
    );
  }

  stop(): void {
    this.#running.abort('done');
  }

  async *whileSending(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        this.start();
        yield chunk;
      }
    } finally {
      // The response ends the wait; this is for a request that was ended before.
      if (this.signal.aborted) this.stop();
    }
  }

  /** Why it was aborted, else the failure as an error of the project. */
  failure(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason;
    return error instanceof OperatorError ? error : unreachable(this.#url, problemOf(error), error);
  }
}

/** A response whose body is still to be read or discarded. */
export class RegistryResponse {
  /** Where it came from, after redirects. */
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #message: IncomingMessage;
  readonly #wait: Wait;

  constructor(url: URL, message: IncomingMessage, wait: Wait) {
    this.url = url;
    this.#message = message;
    this.#wait = wait;
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
  }

  /** A header that occurs once. */
  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** The body. @throws OperatorError REGISTRY_UNREACHABLE when it is cut */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    const source = this.#message[Symbol.asyncIterator]();
    try {
      for (;;) {
        this.#wait.start();
        const { done, value } = await source.next();
        this.#wait.stop();
        if (done === true) return;
        yield value;
      }
    } catch (error) {
      throw this.#wait.failure(error);
    } finally {
      this.#wait.stop();
      // Of a body that was not read to its end the connection is of no further use.
      if (!this.#message.readableEnded) this.#message.destroy();
    }
  }

  /** The whole body. @param limit bytes @throws OperatorError ARTIFACT_INVALID for a longer one */
  async bytes(limit: number): Promise<Buffer> {
    const tooLong = (): OperatorError =>
      new OperatorError('ARTIFACT_INVALID', `${shown(this.url)}: the response is longer than ${limit} bytes`);
    if (Number(this.headers['content-length'] ?? 0) > limit) {
      this.#message.destroy();
      throw tooLong();
    }
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of this.chunks()) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) throw tooLong();
    }
    return Buffer.concat(chunks);
  }

  /** The body as JSON; undefined where it is none. @throws as {@link bytes} */
  async json(limit: number): Promise<unknown> {
    const body = await this.bytes(limit);
    try {
      return JSON.parse(body.toString());
    } catch {
      return undefined;
    }
  }

  /** Gives a connection back whose response is short; that of a long one is closed. */
  async discard(): Promise<void> {
    try {
      await this.bytes(MAX_DISCARDED_BYTES);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
    }
  }
}

/** The same request to where a response sent it. */
function redirected(request: RegistryRequest, location: string): RegistryRequest {
  const { url: from } = request;
  if (!URL.canParse(location, from.href)) throw unreachable(from, 'it redirects to something that is no URL');
  const url = new URL(location, from);
  if (from.protocol === 'https:' && url.protocol !== 'https:') {
    throw unreachable(from, `it redirects to ${shown(url)} without TLS`);
  }
  if (url.host === from.host) return { ...request, url };
  const { Authorization: _, ...headers } = request.headers;
  return { ...request, url, headers };
}

/** A URL for messages: a query may hold a signature that gives access. */
export function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

export function unreachable(url: URL, problem: string, cause?: unknown): OperatorError {
  return new OperatorError('REGISTRY_UNREACHABLE', `${shown(url)}: ${problem}`, { cause });
}

function problemOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = errorText(error);
  return TLS_PROBLEMS[code] ?? (text.includes(code) ? text : `${text} (${code})`);
}
