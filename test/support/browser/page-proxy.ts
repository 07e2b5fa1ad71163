import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request of the browser, and what came back for it. */
export interface PageRequest {
  readonly method: string;
  /** With the prefix and the query. */
  readonly path: string;
  status: number;
  contentType: string;
  /** Length of the body as it was sent, compressed or not. */
  bytes: number;
  /** The body as text; of a stream everything so far. */
  text: string;
  /** Neither side has ended it. */
  isOpen: boolean;
}

export interface ProxyPlace {
  /** Such as `/a/b`, which the target does not see; default none. */
  readonly prefix?: string;
  /** Where it listens; default 127.0.0.1. */
  readonly address?: string;
  /** The header `Host` that the target gets; default: that of the client. */
  readonly host?: string;
}

/**
 * What is between a browser and the page: a port-forward, an ingress with a prefix, a network that cuts connections.
 * Requests outside of the prefix are refused, so that an absolute URL of the page shows.
 */
export class PageProxy implements AsyncDisposable {
  readonly url: string;
  readonly requests: PageRequest[] = [];
  readonly #target: string;
  readonly #prefix: string;
  readonly #host: string | undefined;
  readonly #server: Server;
  readonly #responses = new Map<ServerResponse, PageRequest>();

  private constructor(server: Server, target: string, { prefix = '', host }: ProxyPlace) {
    this.#server = server;
    this.#target = target;
    this.#prefix = prefix;
    this.#host = host;
    const { address, port } = server.address() as AddressInfo;
    this.url = `http://${address}:${port}${prefix}`;
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) =>
      this.#handle(incoming, outgoing),
    );
  }

  /** @param target such as `http://127.0.0.1:9652` */
  static async start(target: string, place: ProxyPlace = {}): Promise<PageProxy> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, place.address ?? '127.0.0.1', resolve);
    });
    return new PageProxy(server, target, place);
  }

  /** Streams that neither side has ended. */
  get openStreams(): readonly PageRequest[] {
    return this.requests.filter(({ isOpen, contentType }) => isOpen && contentType === 'text/event-stream');
  }

  get streams(): readonly PageRequest[] {
    return this.requests.filter(({ contentType }) => contentType === 'text/event-stream');
  }

  /** Ends every response that is not complete, in the middle, as a network does. */
  cut(): void {
    for (const response of this.#responses.keys()) response.socket?.resetAndDestroy();
  }

  /** Adds events to every stream that is open. */
  send(events: string): void {
    for (const [response, { contentType }] of this.#responses)
      if (contentType === 'text/event-stream') response.write(events);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #handle(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = 'GET', url: path = '' } = incoming;
    const noted = { method, path, status: 0, contentType: '', bytes: 0, text: '', isOpen: true };
    this.requests.push(noted);
    this.#responses.set(outgoing, noted);
    outgoing.once('close', () => {
      noted.isOpen = false;
      this.#responses.delete(outgoing);
    });
    if (!path.startsWith(`${this.#prefix}/`)) {
      noted.status = 404;
      outgoing.writeHead(404).end();
      return;
    }
    const upstream = httpRequest(`${this.#target}${path.slice(this.#prefix.length)}`, {
      method,
      agent: false,
      headers: this.#host === undefined ? incoming.headers : { ...incoming.headers, host: this.#host },
    });
    outgoing.once('close', () => upstream.destroy());
    upstream.on('error', () => outgoing.destroy());
    upstream.on('response', (reply) => {
      noted.status = reply.statusCode ?? 0;
      noted.contentType = (reply.headers['content-type'] ?? '').split(';')[0] ?? '';
      outgoing.writeHead(noted.status, reply.headers);
      outgoing.flushHeaders();
      const decoder = new TextDecoder();
      reply.on('data', (chunk: Buffer) => {
        noted.bytes += chunk.length;
        noted.text += decoder.decode(chunk, { stream: true });
        outgoing.write(chunk);
      });
      reply.on('end', () => outgoing.end());
      reply.on('error', () => outgoing.destroy());
    });
    incoming.pipe(upstream);
  }
}
