// The HTTPS server for admission and conversion webhooks. API servers keep connections open and reuse them,
// so a stop must not fail a request: the server announces the end (`Connection: close`), waits for requests
// in progress, and, with replicas, until clients connect to another one. Certificates are replaced without
// closing connections.

import { type EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import type { HeldPorts, TakenPort } from './connection-forwarder.ts';
import { bodyOf, type HttpResponse, respond } from './http-responses.ts';
import { listening } from './listening.ts';
import type { WebhookCertificates } from './webhook-certificates.ts';

/** A POST with a JSON body. */
export interface WebhookRequest {
  /** Without the query. */
  readonly path: string;
  /** How long the API server waits, from its query `timeout`, in milliseconds; absent when it does not say. */
  readonly timeoutMs?: number;
  readonly body: string;
  /** The header `traceparent` of the client; absent without one. */
  readonly traceparent?: string;
}

export interface TlsResponse {
  readonly status: number;
  /** `json` or `text`. */
  readonly type: 'json' | 'text';
  readonly body: string;
}

/** Returns the response to a request; the signal aborts when the client goes away. An error that it throws becomes a 500. */
export type WebhookHandler = (request: WebhookRequest, signal: AbortSignal) => Promise<TlsResponse>;

export interface WebhookServer {
  readonly port: number;
  /**
   * Stops listening, lets requests finish for at most 5 seconds, and drops every connection. Where another replica can take
   * over, this waits before that until clients do not connect here any more, and one second more for them to leave their
   * connections.
   */
  stop(): Promise<void>;
}

export interface WebhookServerOptions {
  readonly address: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** A handle that listens on that port already, with connections that wait; by default the server listens itself. */
  readonly taken?: TakenPort | undefined;
  /** Where other replicas take requests over: resolves when clients do not connect to this one any more. */
  readonly replicas?: Pick<HeldPorts, 'drained'> | undefined;
  /** A change is used for every connection made after it. */
  readonly certificates: WebhookCertificates;
  /** PEM certificates; if there are any, a client must present a certificate that one of these authorities signed. */
  readonly clientCas?: readonly string[];
  readonly handler: WebhookHandler;
  /** A request with a longer body is refused with 413. */
  readonly maxBodyBytes: number;
  readonly clock: SteadyClock;
  readonly log: Logger;
}

const MAX_CONNECTIONS = 2_048;
/** Longer than API servers keep an idle connection, so that it is never closed under a request. */
const IDLE_MS = 120_000;
/** Of requests in progress when the server stops. */
const FINISH_MS = 5_000;
/** How long clients are given to leave their connections for another replica. */
const LEAVE_MS = 1_000;
/** Age limit of a connection that may lead through another replica: shorter than that replica waits before it stops. */
const MAX_AGE_MS = 3_000;
/** By the type of the response. */
const MEDIA_TYPES = { json: 'application/json', text: 'text/plain; charset=utf-8' } as const;

/**
 * Serves webhooks over HTTPS: `GET /healthz`, and the handler for every POST with `Content-Type: application/json`.
 * Time and memory are bounded: 10 s for the handshake and the headers, 30 s for a request, the body, 2048 connections.
 *
 * @throws OperatorError HTTP_LISTEN when the address is in use or not ours
 */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { address, port, taken, replicas, certificates, clientCas = [], clock, log } = options;
  const context = () => ({
    cert: certificates.current.cert,
    key: certificates.current.key,
    minVersion: 'TLSv1.2' as const,
    ...(clientCas.length === 0 ? {} : { ca: [...clientCas] }),
  });
  let isStopping = false;
  const responding = new Set<ServerResponse>();
  const server = createServer(
    {
      ...context(),
      requestCert: clientCas.length > 0,
      rejectUnauthorized: clientCas.length > 0,
      handshakeTimeout: 10_000,
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: 16 * 1024,
    },
    (request, response) => {
      responding.add(response);
      response.once('close', () => responding.delete(response));
      void respond(request, response, async (gone) => {
        const reply = await responseTo(request, options, gone);
        return sent(reply, isStopping || isOld(request.socket));
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  // A standby in between cannot end a connection without a failure: it sees bytes, not requests.
  const openedMs = new WeakMap<Duplex, number>();
  const isOld = (socket: Duplex): boolean =>
    replicas !== undefined && clock.steadyMs() - (openedMs.get(socket) ?? 0) > MAX_AGE_MS;
  server.on('secureConnection', (socket) => openedMs.set(socket, clock.steadyMs()));
  // The server forgets connections on which no request has come yet, and API servers keep such ones in reserve.
  const sockets = new Set<Duplex>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  try {
    await listening(server, taken?.handle ?? { host: address, port }, (error) =>
      log.warn({ error, address, port }, 'the webhook server lost a connection and continues'),
    );
  } catch (cause) {
    throw new OperatorError(
      'HTTP_LISTEN',
      `Cannot serve webhooks on ${address}:${port}: ${messageOf(cause)}; set another port, or stop the process that uses it`,
      { cause },
    );
  }
  for (const socket of taken?.waiting ?? []) server.emit('connection', socket);
  const unsubscribe = certificates.onChange(() => server.setSecureContext(context()));
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    async stop() {
      unsubscribe();
      isStopping = true;
      await replicas?.drained();
      if (replicas !== undefined) await emptied(sockets, LEAVE_MS, clock);
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      await emptied(responding, FINISH_MS, clock);
      for (const socket of sockets) socket.destroy();
      await promise;
    },
  };
}

/** Resolves when all have been closed, also those that come in the meantime, or after the time. */
async function emptied(open: ReadonlySet<EventEmitter>, limitMs: number, clock: SteadyClock): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(limitMs, done.signal).catch(() => undefined);
  const all = async (): Promise<void> => {
    for (let [next] = open; next !== undefined; [next] = open) await once(next, 'close');
  };
  await Promise.race([all(), late]);
  done.abort();
}

/** The response of the handler as an HTTP response. */
function sent({ status, type, body }: TlsResponse, isLast: boolean): HttpResponse {
  const connection = isLast ? { Connection: 'close' } : {};
  return { status, headers: { 'Content-Type': MEDIA_TYPES[type], ...connection }, body };
}

/** Checks method and type, reads the body and calls the handler. Never rejects. */
async function responseTo(
  request: IncomingMessage,
  { handler, maxBodyBytes, log }: WebhookServerOptions,
  signal: AbortSignal,
): Promise<TlsResponse> {
  const { method = 'GET', url = '/', headers } = request;
  const path = url.split('?', 1)[0] ?? '/';
  try {
    if ((method === 'GET' || method === 'HEAD') && path === '/healthz') return text(200, '');
    if (method !== 'POST') return text(405, 'method not allowed\n');
    if (headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json')
      return text(415, 'Content-Type must be application/json\n');
    if (headers['content-encoding'] !== undefined) return text(415, 'Content-Encoding is not supported\n');
    const body = await bodyOf(request, maxBodyBytes);
    if (body === undefined) {
      log.warn({ path, limitBytes: maxBodyBytes }, 'a webhook request is refused: its body is too large');
      return text(413, `request body is larger than ${maxBodyBytes} bytes\n`);
    }
    const timeoutMs = timeoutOf(url);
    const { traceparent } = headers;
    return await handler(
      {
        path,
        body,
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(typeof traceparent === 'string' && { traceparent }),
      },
      signal,
    );
  } catch (error) {
    if (!signal.aborted) log.error({ error, path }, 'cannot handle a webhook request');
    return text(500, 'internal error\n');
  }
}

/** The API server passes its own time limit as a Go duration. */
function timeoutOf(url: string): number | undefined {
  const timeout = new URLSearchParams(url.split('?', 2)[1]).get('timeout');
  const timeoutMs = timeout === null ? undefined : parseGoDuration(timeout);
  return timeoutMs !== undefined && timeoutMs > 0 ? timeoutMs : undefined;
}

function text(status: number, body: string): TlsResponse {
  return { status, type: 'text', body };
}
