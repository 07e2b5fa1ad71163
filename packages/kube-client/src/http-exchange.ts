// One HTTP/1.1 exchange on node:http, below `http-kube-client.ts`: send a request, read a body, split a
// stream into lines. Node reports failures by events in several orders; here each becomes one rejection, and
// an abort always rejects with the reason of the signal. A reset on a reused connection is its own error,
// because only then it is certain that the server had closed the connection before.

import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { SteadyClock } from '@addon-operator/base/clock';

/** One HTTP request, ready to be sent. */
interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is read once; where it fails, so does the request. */
  readonly body: string | Uint8Array | Readable | undefined;
  readonly agent: Agent;
  /** Called when the connection is there, right before the request is written to it; what it throws keeps it from being sent. */
  readonly beforeSend?: () => void;
}

/** Limit on opening a connection, apart from the deadline of the request. */
interface ConnectLimit {
  readonly clock: SteadyClock;
  readonly connectTimeoutMs: number;
}

/** The connection had been idle and was closed by the server just when the request was written to it. */
export class StaleConnectionError extends Error {}

/** `beforeSend` threw the cause, and nothing was sent. */
export class NotSentError extends Error {}

/**
 * Sends one request and resolves with status and headers; the body is still to be read. An abort destroys the
 * connection, at any time until the body has ended, and rejects with `signal.reason`.
 */
export function sendRequest(
  request: HttpRequest,
  limit: ConnectLimit,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  if (signal.aborted) {
    reject(signal.reason);
    return promise;
  }
  const options: RequestOptions = {
    method: request.method,
    headers: request.headers,
    agent: request.agent,
  };
  const send = request.url.protocol === 'https:' ? requestHttps : requestHttp;
  const outgoing = send(request.url, options);
  const onAbort = (): void => {
    outgoing.destroy(asError(signal.reason));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  outgoing.once('close', () => {
    signal.removeEventListener('abort', onAbort);
    // A response that switches protocols closes the connection with neither a response nor an error event.
    reject(signal.aborted ? signal.reason : new Error('the connection was closed without a response'));
  });
  outgoing.once('socket', (socket) => limitConnecting(socket, limit, (error) => outgoing.destroy(error)));
  outgoing.once('response', resolve);
  // Stays for good: an error may follow the response, when the body reports it as well.
  outgoing.on('error', (error) => {
    if (signal.aborted) reject(signal.reason);
    else if (error instanceof NotSentError) reject(error);
    else if (outgoing.reusedSocket && isReset(error))
      reject(new StaleConnectionError(error.message, { cause: error }));
    else reject(error);
  });
  const { beforeSend, body } = request;
  if (beforeSend === undefined) endWith(outgoing, body);
  else
    outgoing.once('socket', (socket) => whenConnected(socket, () => sendChecked(outgoing, beforeSend, body)));
  return promise;
}

/** Opening a connection may take seconds, in which what allowed the request may have come to an end. */
function sendChecked(outgoing: ClientRequest, beforeSend: () => void, body: HttpRequest['body']): void {
  if (outgoing.destroyed) return;
  try {
    beforeSend();
  } catch (cause) {
    outgoing.destroy(new NotSentError('the request was not sent', { cause }));
    return;
  }
  endWith(outgoing, body);
}

function endWith(outgoing: ClientRequest, body: HttpRequest['body']): void {
  if (!(body instanceof Readable)) {
    outgoing.end(body);
    return;
  }
  // A request that ends early, by a response or a failure, ends its source as well.
  outgoing.once('close', () => body.destroy());
  body.once('error', (error) => outgoing.destroy(error));
  body.pipe(outgoing);
}

/** Calls back once the connection is usable, for TLS after the handshake. */
function whenConnected(socket: Socket, act: () => void): void {
  if (socket.connecting) socket.once(readyEventOf(socket), act);
  else act();
}

/** For TLS, 'connect' comes before the handshake. */
function readyEventOf(socket: Socket): 'secureConnect' | 'connect' {
  return socket instanceof TLSSocket ? 'secureConnect' : 'connect';
}

/** Gives up a connection that is not open in time. A packet filter that drops packets would take minutes. */
function limitConnecting(socket: Socket, limit: ConnectLimit, giveUp: (error: Error) => void): void {
  if (!socket.connecting) return;
  const done = new AbortController();
  socket.once(readyEventOf(socket), () => done.abort());
  socket.once('close', () => done.abort());
  limit.clock.sleep(limit.connectTimeoutMs, done.signal).then(
    () => giveUp(new Error(`no connection within ${limit.connectTimeoutMs / 1000} s`)),
    () => undefined,
  );
}

/** How a closed connection shows: on reading as ECONNRESET, on writing as EPIPE. */
function isReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

/** The whole body. Rejects when it is cut short, and with `signal.reason` on abort. */
export async function readBody(response: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  return Buffer.concat(chunks);
}

/** A signal may be aborted with any value; streams are destroyed with errors. */
function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

const NEWLINE = 0x0a;

/** The stream ended in the middle of a line. */
class TruncatedLineError extends Error {}

/**
 * Splits a stream of bytes into lines, without their newlines; empty lines are left out. Bytes are decoded line by
 * line, so a character cut by a chunk border stays whole.
 *
 * @throws TruncatedLineError when the stream ends within a line; that piece is never delivered
 * @throws TypeError for bytes that are no UTF-8
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let pieces: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pieces.push(chunk.subarray(start, end));
      const line = decoder.decode(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
      pieces = [];
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  if (pieces.length > 0) throw new TruncatedLineError('the stream ended within a line');
}
