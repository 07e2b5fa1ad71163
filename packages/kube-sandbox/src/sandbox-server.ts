import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type ApiRequest,
  type ApiResponse,
  type BodyResponse,
  jsonResponse,
  type StreamResponse,
} from './api-request.ts';
import { messageOf, SandboxError } from './sandbox-error.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { StatusError } from './status-error.ts';

/** Largest request body, as the real server has it. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** A watcher that leaves more than this unread is cut off. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

export interface HttpServer {
  readonly port: number;
  /** Ends all streams and closes all connections. */
  stop(): Promise<void>;
}

/**
 * Serves `handle` on 127.0.0.1 over plain HTTP/1.1. Each request is read whole, handled at once, and answered with a body or
 * with a stream that lasts until the client leaves or the server stops. A body that is too large gets 413; what `handle`
 * throws is a defect, and gets 500 and a record in the log.
 *
 * @param port 0 for a free one
 * @throws SandboxError when the port cannot be bound
 */
export async function startHttpServer(
  port: number,
  handle: (request: ApiRequest) => ApiResponse,
  log: SandboxLog,
): Promise<HttpServer> {
  const stopped = new AbortController();
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing, { handle, log, stopped: stopped.signal }).catch((error: unknown) => {
      // The client went away while it was sending or reading.
      log.debug({ error, method: incoming.method }, 'sandbox connection broke');
      outgoing.destroy();
    });
  });
  // Go clients keep connections for reuse: closing idle ones makes their next request fail.
  server.keepAliveTimeout = 0;
  const boundPort = await listen(server, port);
  return {
    port: boundPort,
    stop: async () => {
      stopped.abort();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause) => {
    reject(
      new SandboxError(`Cannot serve the sandbox API on 127.0.0.1:${port}: ${messageOf(cause)}`, { cause }),
    );
  });
  server.listen(port, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

interface Service {
  readonly handle: (request: ApiRequest) => ApiResponse;
  readonly log: SandboxLog;
  readonly stopped: AbortSignal;
}

async function serve(incoming: IncomingMessage, outgoing: ServerResponse, service: Service): Promise<void> {
  const response = await responseTo(incoming, service.handle, service.log);
  if (response.type === 'body') sendBody(outgoing, response);
  else await sendStream(outgoing, response, service.stopped);
}

async function responseTo(
  incoming: IncomingMessage,
  handle: (request: ApiRequest) => ApiResponse,
  log: SandboxLog,
): Promise<ApiResponse> {
  const body = await readBody(incoming);
  if (body === undefined) {
    const message = `Request entity too large: limit is ${MAX_BODY_BYTES}`;
    const { status } = new StatusError(413, 'RequestEntityTooLarge', message);
    return jsonResponse(status.code, status);
  }
  const [path = '', queryText = ''] = splitOnce(incoming.url ?? '/', '?');
  try {
    return handle({
      method: incoming.method ?? 'GET',
      path,
      query: new URLSearchParams(queryText),
      accept: incoming.headers.accept ?? '',
      contentType: incoming.headers['content-type'] ?? '',
      ifNoneMatch: incoming.headers['if-none-match'] ?? '',
      userAgent: incoming.headers['user-agent'] ?? '',
      body,
    });
  } catch (error) {
    log.error({ error, method: incoming.method, path }, 'sandbox request failed');
    const { status } = new StatusError(500, 'InternalError', `Internal error occurred: ${messageOf(error)}`);
    return jsonResponse(status.code, status);
  }
}

function splitOnce(text: string, separator: string): readonly string[] {
  const index = text.indexOf(separator);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

/** The whole body; undefined when it is too large. It is read to its end all the same, or the client hears no response. */
async function readBody(incoming: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of incoming) {
    if (!Buffer.isBuffer(chunk)) continue;
    sizeBytes += chunk.length;
    if (sizeBytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return sizeBytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks);
}

function sendBody(outgoing: ServerResponse, response: BodyResponse): void {
  outgoing.statusCode = response.status;
  for (const [name, value] of Object.entries(response.headers)) outgoing.setHeader(name, value);
  if (response.warnings.length > 0)
    outgoing.setHeader(
      'Warning',
      response.warnings.map((text) => `299 - ${JSON.stringify(text)}`),
    );
  if (response.status === 304) {
    outgoing.end();
    return;
  }
  outgoing.setHeader('Content-Type', response.contentType);
  outgoing.setHeader('Content-Length', Buffer.byteLength(response.text));
  outgoing.end(response.text);
}

async function sendStream(
  outgoing: ServerResponse,
  response: StreamResponse,
  stopped: AbortSignal,
): Promise<void> {
  const closed = new AbortController();
  outgoing.once('close', () => closed.abort());
  outgoing.writeHead(200, { 'Content-Type': response.contentType });
  // Clients wait for the headers of a watch before they go on; there may be no event for hours.
  outgoing.flushHeaders();
  const send = (text: string): boolean => {
    if (outgoing.destroyed || outgoing.writableLength > MAX_UNREAD_BYTES) return false;
    outgoing.write(text);
    return true;
  };
  await response.run(send, AbortSignal.any([closed.signal, stopped]));
  if (outgoing.writableLength > MAX_UNREAD_BYTES) outgoing.destroy();
  else outgoing.end();
}
