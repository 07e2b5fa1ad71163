/** Sends one POST to the server of a hook, with limits of size and time, and without redirects, proxies or reuse. */

import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { SteadyClock } from '@addon-operator/base/clock';
import { sendRequest } from '@addon-operator/kube-client/http-exchange';
import type { AllowedHosts } from './allowed-hosts.ts';
import type { EndpointCredentials } from './endpoint-credentials.ts';
import type { HookResponse } from './hook-response.ts';

interface HookPost {
  readonly url: URL;
  /** JSON. */
  readonly body: string;
  /** May replace the content type, which is `application/json`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: EndpointCredentials;
  readonly clock: SteadyClock;
  readonly hosts: Pick<AllowedHosts, 'requireReachable' | 'lookup'>;
  /** Only the status of a success counts, so its body is not read; default: it is. */
  readonly ignoresBody?: boolean;
}

/** Bytes that a request may have; what is larger fails before it is sent. */
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024;
/** Maximum size of a response in bytes; a larger one fails the run. */
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** A host that does not respond is given up long before the limit of the run. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Sends one request and reads the response, of any status. Each call opens a new connection and uses no proxy;
 * certificates are always checked, and redirects are not followed. It goes only to addresses that `hosts` allows.
 *
 * @throws Error saying why there is no response, or why it cannot be read; `signal.reason` on abort
 */
export async function postToHook(post: HookPost, signal: AbortSignal): Promise<HookResponse> {
  const { url, body, headers, credentials, clock, hosts, ignoresBody = false } = post;
  hosts.requireReachable(url);
  const { lookup } = hosts;
  const { authorization, secureContext } = credentials;
  const agent =
    url.protocol === 'https:'
      ? new HttpsAgent({
          keepAlive: false,
          lookup,
          rejectUnauthorized: true,
          ...(secureContext === undefined ? {} : { secureContext }),
        })
      : new HttpAgent({ keepAlive: false, lookup });
  const response = await sendRequest(
    {
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...headers,
        accept: 'application/json',
        'accept-encoding': 'identity',
        'content-length': String(Buffer.byteLength(body)),
        ...(authorization === undefined ? {} : { authorization }),
      },
      body,
      agent,
    },
    { clock, connectTimeoutMs: CONNECT_TIMEOUT_MS },
    signal,
  );
  const status = response.statusCode ?? 0;
  const isSuccess = status >= 200 && status < 300;
  return {
    status,
    contentType: response.headers['content-type'],
    location: response.headers.location,
    retryAfter: response.headers['retry-after'],
    body: isSuccess
      ? await bodyOfSuccess(response, ignoresBody, signal)
      : await beginningOfBody(response, signal),
  };
}

async function bodyOfSuccess(
  response: IncomingMessage,
  isIgnored: boolean,
  signal: AbortSignal,
): Promise<Buffer> {
  if (!isIgnored) return await wholeBody(response, signal);
  response.destroy();
  return Buffer.alloc(0);
}

async function wholeBody(response: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  const body = encoding === 'identity' ? await readUpTo(response, MAX_RESPONSE_BYTES, signal) : undefined;
  response.destroy();
  if (body === undefined)
    throw new Error(`the response has the encoding ${encoding}, which was not requested`);
  if (body.isCut)
    throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes; the rest was not read`);
  return withoutMark(body.bytes);
}

/** A byte order mark is no part of JSON, and may be skipped (RFC 8259). */
function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? bytes.subarray(BYTE_ORDER_MARK.length)
    : bytes;
}

/**
 * The response of a failing server may decide about the run, so it is read up to the same limit as a success. Messages show
 * only its beginning; if it breaks off, the status will do.
 */
async function beginningOfBody(response: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const { bytes } = await readUpTo(response, MAX_RESPONSE_BYTES, signal).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return { bytes: Buffer.alloc(0) };
  });
  response.destroy();
  return withoutMark(bytes);
}

async function readUpTo(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // Leaving the loop early destroys the connection: nothing more is read.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: true };
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // Node says only "aborted".
    throw response.complete
      ? error
      : new Error('the connection was closed before the response was complete', { cause: error });
  }
  return { bytes: Buffer.concat(chunks), isCut: false };
}
