import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Respond = (request: ReceivedRequest, response: ServerResponse) => void;

export interface LoopbackServer {
  readonly url: string;
  /** Everything received, in order. */
  readonly requests: readonly ReceivedRequest[];
  /** Cuts every open connection. */
  cutConnections(): void;
  stop(): Promise<void>;
}

/**
 * An HTTP server on a loopback port that responds as `respond` says; https when `tls` is given.
 *
 * @param wantedPort default: any free one, which after the end of the server may belong to that of another test
 */
export async function startLoopbackServer(
  respond: Respond,
  tls?: ServerOptions,
  wantedPort = 0,
): Promise<LoopbackServer> {
  const requests: ReceivedRequest[] = [];
  const listener: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const url = new URL(incoming.url ?? '/', 'http://loopback');
      const request: ReceivedRequest = {
        method: incoming.method ?? '',
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(request);
      respond(request, response);
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => {
    server.listen(wantedPort, '127.0.0.1', resolve);
  });
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    cutConnections: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** Answers with JSON. */
export function responseJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Answers as an API server refuses. */
export function responseStatus(
  response: ServerResponse,
  status: number,
  reason: string,
  message = reason,
  headers: Readonly<Record<string, string>> = {},
): void {
  responseJson(
    response,
    status,
    { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message },
    headers,
  );
}
