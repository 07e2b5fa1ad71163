import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** A complete response of a server. */
export interface HttpResponse {
  readonly status: number;
  /** All but `Content-Length`. */
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array;
}

/**
 * Sends what `responseTo` returns, unless the client is gone by then. If the request was not read to its end, the
 * connection is closed behind the response.
 *
 * @param responseTo must not throw; its signal aborts when the client goes away
 */
export async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  responseTo: (signal: AbortSignal) => Promise<HttpResponse>,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { status, headers, body } = await responseTo(gone.signal);
  if (gone.signal.aborted) return;
  const isCut = !request.complete;
  response.writeHead(status, {
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    ...(isCut && { Connection: 'close' }),
  });
  response.end(body, () => {
    if (isCut) request.destroy();
  });
}

/** The body as text; undefined as soon as it is known to be longer than `maxBytes`, and the rest is not read. */
export async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
