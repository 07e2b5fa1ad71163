import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP has it in JSON. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

type Result =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'reset';

/** A collector in this process that takes spans by OTLP over HTTP. */
export class OtlpReceiver implements AsyncDisposable {
  readonly spans: OtlpSpan[] = [];
  readonly resources: OtlpSpan['attributes'][] = [];
  readonly headers: Readonly<Record<string, unknown>>[] = [];
  /** What the next requests get; then 200. */
  readonly responses: Result[] = [];
  /** What all others get. */
  always: Result = { status: 200 };
  requests = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<OtlpReceiver> {
    const server = createServer();
    const receiver = new OtlpReceiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        receiver.requests += 1;
        receiver.headers.push(request.headers);
        const reply = receiver.responses.shift() ?? receiver.always;
        if (reply === 'hang') return;
        if (reply === 'reset') {
          request.socket.destroy();
          return;
        }
        if (reply.status === 200) receiver.#take(JSON.parse(Buffer.concat(chunks).toString()) as OtlpRequest);
        response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
        response.end('{}');
      });
    });
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take({ resourceSpans }: OtlpRequest): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resources.push(resource.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
  }
}

/** The text of an attribute. */
export function attributeOf({ attributes }: Pick<OtlpSpan, 'attributes'>, name: string): unknown {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value === undefined ? undefined : Object.values(value)[0];
}
