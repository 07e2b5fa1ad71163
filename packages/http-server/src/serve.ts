// The HTTP server behind the API, the probes and the debug socket, with limits on time and memory. It reads a
// request, calls the handler and sends what that returns: a whole body, or a stream of events that lasts
// until the client leaves. A handler that throws becomes a 500 and one error record. Webhooks have their own
// server (`tls-server.ts`).

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@addon-operator/base/log';
import { ERROR_CODE_HEADER } from './error-code-header.ts';
import { bodyOf, type HttpResponse, respond } from './http-responses.ts';
import { listening } from './listening.ts';
import { errorResponse, type RouteResponse, type StreamSink } from './response.ts';

export interface ServerRequest {
  readonly method: string;
  /** Without the query; percent escapes are decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  /** Header `Last-Event-ID`: the event after which a stream resumes. */
  readonly lastEventId?: string | undefined;
}

/** The sender of a request. */
export interface RequestOrigin {
  readonly connection: Socket;
  readonly headers: IncomingHttpHeaders;
  /** The path as it was sent, with its percent escapes. */
  readonly rawPath: string;
}

/** Returns the response to a request; the signal aborts when the client goes away. An error that it throws becomes a 500. */
export type RequestHandler = (
  request: ServerRequest,
  signal: AbortSignal,
  origin: RequestOrigin,
) => RouteResponse | Promise<RouteResponse>;

export interface RunningServer {
  /** Port of a TCP server, 0 for a unix socket. */
  readonly port: number;
  /** Stops listening and drops every connection. */
  stop(): Promise<void>;
}

export type ListenTarget = { readonly host: string; readonly port: number } | { readonly path: string };

/** Requests of the API are small documents. */
const MAX_BODY_BYTES = 64 * 1024;
/** Beyond this, new connections are closed at once instead of taking memory. */
const MAX_CONNECTIONS = 2_048;

/**
 * Serves requests with bounded time and memory: 10 s for the headers, 30 s for a request, 90 s of silence, 16 KiB of
 * headers, 64 KiB of body, 2048 connections. Rejects with what the system says when it cannot listen.
 *
 * @param headers sent with every response, refusals by the server itself included
 */
export async function serve(
  target: ListenTarget,
  handler: RequestHandler,
  log: Logger,
  headers: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: 16 * 1024,
    },
    (request, response) => void reply(request, response, { handler, log, headers }),
  );
  server.timeout = 90_000;
  server.maxConnections = MAX_CONNECTIONS;
  await listening(server, target, (error) =>
    log.warn({ error, ...loggedTarget(target) }, 'the HTTP server lost a connection and continues'),
  );
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async stop() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
  };
}

function loggedTarget(target: ListenTarget): Readonly<Record<string, unknown>> {
  return 'path' in target ? target : { address: target.host, port: target.port };
}

/** Dependencies of a request. */
interface Serving {
  readonly handler: RequestHandler;
  readonly log: Logger;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends the response, or runs the stream and ends the connection after it. */
async function reply(
  request: IncomingMessage,
  response: ServerResponse,
  { handler, log, headers }: Serving,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const made = await responseTo(request, handler, gone.signal, log);
  if (gone.signal.aborted) return;
  const { stream } = made;
  const whole = sent(made, headers);
  if (stream === undefined) return await respond(request, response, async () => whole);
  response.writeHead(made.status, { ...whole.headers, 'Cache-Control': 'no-store' });
  const sink: StreamSink = {
    write: (text) => void response.write(text),
    get unsentBytes() {
      return response.writableLength;
    },
    drop: () => void response.destroy(),
  };
  await stream(sink, gone.signal).catch((error: unknown) => log.error({ error }, 'a stream of events ends'));
  response.end();
}

/** Headers in the order of precedence: those of the response win. */
function sent(
  { status, contentType, body, bytes, headers, code }: RouteResponse,
  always: Readonly<Record<string, string>>,
): HttpResponse {
  const all = {
    'Content-Type': contentType,
    'X-Content-Type-Options': 'nosniff',
    ...always,
    ...headers,
    ...(code !== undefined && { [ERROR_CODE_HEADER]: code }),
  };
  return { status, headers: all, body: bytes ?? body };
}

/** Reads and checks a request and calls the handler. Never rejects. */
async function responseTo(
  request: IncomingMessage,
  handler: RequestHandler,
  signal: AbortSignal,
  log: Logger,
): Promise<RouteResponse> {
  const { method = 'GET', url = '/' } = request;
  const [rawPath = '/', rawQuery = ''] = url.split('?', 2);
  try {
    const path = decodedPath(rawPath);
    if (path === undefined) return errorResponse(400, 'REQUEST_INVALID', '400 bad request');
    const body = await bodyOf(request, MAX_BODY_BYTES);
    if (body === undefined) return errorResponse(413, 'REQUEST_INVALID', '413 request body is too large');
    const lastEventId = request.headers['last-event-id']?.toString();
    const origin = { connection: request.socket, headers: request.headers, rawPath };
    return await handler(
      { method, path, query: new URLSearchParams(rawQuery), body, lastEventId },
      signal,
      origin,
    );
  } catch (error) {
    if (!signal.aborted) log.error({ error, method, path: rawPath }, 'cannot handle an HTTP request');
    return errorResponse(500, 'INTERNAL', '500 internal error');
  }
}

/** Undefined for a path that is not absolute or has invalid percent-encoding. */
function decodedPath(rawPath: string): string | undefined {
  try {
    return rawPath.startsWith('/') ? decodeURIComponent(rawPath) : undefined;
  } catch {
    return undefined;
  }
}
