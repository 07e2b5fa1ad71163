import type { ServerResponse } from 'node:http';
import {
  type LoopbackServer,
  type ReceivedRequest,
  responseJson,
  responseStatus,
  startLoopbackServer,
} from './loopback-server.ts';

type Data = Readonly<Record<string, string>>;

interface Stored {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap';
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string };
  readonly data?: Data;
  readonly [field: string]: unknown;
}

/**
 * What happens to one request instead of its normal handling: it is refused, its connection is cut, or it is carried out
 * and the connection is cut before the response.
 */
export type Trouble =
  | { readonly type: 'refuse'; readonly status: number; readonly reason: string }
  | { readonly type: 'cut' }
  | { readonly type: 'carry-out-and-cut' };

interface Interception {
  readonly verb: string;
  readonly act: (request: ReceivedRequest) => Trouble | undefined;
}

const NAMESPACE = 'operator';
const NAME = 'addon-operator';
const COLLECTION = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

/** An API server that knows one ConfigMap, on loopback. */
export class ConfigMapServer {
  readonly ref = { namespace: NAMESPACE, name: NAME };
  #server: LoopbackServer | undefined;
  #object: Stored | undefined;
  #version = 100;
  #events: { readonly version: number; readonly line: string }[] = [];
  #watches: ServerResponse[] = [];
  #interceptions: Interception[] = [];
  #isHeld = false;

  static async start(): Promise<ConfigMapServer> {
    const server = new ConfigMapServer();
    server.#server = await startLoopbackServer((request, response) => server.#reply(request, response));
    return server;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  get object(): Stored | undefined {
    return this.#object;
  }

  get openWatches(): number {
    return this.#watches.length;
  }

  /** How many requests were made, by verb: GET, PUT, POST, LIST, WATCH. */
  count(verb: string): number {
    return (this.#server?.requests ?? []).filter((request) => verbOf(request) === verb).length;
  }

  /** Another client writes the ConfigMap. */
  edit(data: Data, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#store({ ...this.#object, ...fields, data });
  }

  delete(): void {
    if (this.#object === undefined) return;
    this.#version += 1;
    const metadata = { ...this.#object.metadata, resourceVersion: String(this.#version) };
    this.#record('DELETED', { ...this.#object, metadata });
    this.#object = undefined;
  }

  /** The next request with this verb meets what `act` returns, after what `act` does. */
  intercept(verb: string, act: Interception['act']): void {
    this.#interceptions.push({ verb, act });
  }

  /** Watches hear nothing until they are released, and then everything they missed. */
  holdWatches(): void {
    this.#isHeld = true;
  }

  releaseWatches(fromVersion: number): void {
    this.#isHeld = false;
    for (const { version, line } of this.#events) {
      if (version > fromVersion) for (const watch of this.#watches) watch.write(line);
    }
  }

  get version(): number {
    return this.#version;
  }

  breakWatches(): void {
    for (const watch of this.#watches.splice(0)) watch.destroy();
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  #reply(request: ReceivedRequest, response: ServerResponse): void {
    const verb = verbOf(request);
    const index = this.#interceptions.findIndex((interception) => interception.verb === verb);
    const trouble = index === -1 ? undefined : this.#interceptions.splice(index, 1)[0]?.act(request);
    switch (trouble?.type) {
      case 'refuse':
        responseStatus(response, trouble.status, trouble.reason);
        return;
      case 'cut':
        response.destroy();
        return;
      case 'carry-out-and-cut':
        this.#write(request, undefined);
        response.destroy();
        return;
      case undefined:
        this.#handle(verb, request, response);
    }
  }

  #handle(verb: string, request: ReceivedRequest, response: ServerResponse): void {
    switch (verb) {
      case 'LIST':
        responseJson(response, 200, {
          kind: 'ConfigMapList',
          apiVersion: 'v1',
          metadata: { resourceVersion: String(this.#version) },
          items: this.#object === undefined ? [] : [this.#object],
        });
        return;
      case 'WATCH':
        this.#watch(Number(request.query['resourceVersion']), response);
        return;
      case 'GET':
        if (this.#object === undefined) responseStatus(response, 404, 'NotFound');
        else responseJson(response, 200, this.#object);
        return;
      default:
        this.#write(request, response);
    }
  }

  #write(request: ReceivedRequest, response: ServerResponse | undefined): void {
    // Only our own client talks to this server, and it sends ConfigMaps.
    const body = JSON.parse(request.body) as Stored;
    const isConflict =
      request.method === 'POST'
        ? this.#object !== undefined
        : body.metadata.resourceVersion !== this.#object?.metadata.resourceVersion;
    if (!isConflict) this.#store(body);
    if (response === undefined) return;
    if (isConflict) responseStatus(response, 409, request.method === 'POST' ? 'AlreadyExists' : 'Conflict');
    else responseJson(response, request.method === 'POST' ? 201 : 200, this.#object);
  }

  #store(fields: Readonly<Record<string, unknown>>): void {
    const type = this.#object === undefined ? 'ADDED' : 'MODIFIED';
    this.#version += 1;
    const metadata = { name: NAME, namespace: NAMESPACE, resourceVersion: String(this.#version) };
    this.#object = { apiVersion: 'v1', kind: 'ConfigMap', ...fields, metadata };
    this.#record(type, this.#object);
  }

  #record(type: string, object: Stored): void {
    const line = `${JSON.stringify({ type, object })}\n`;
    this.#events.push({ version: this.#version, line });
    if (this.#isHeld) return;
    for (const watch of this.#watches) watch.write(line);
  }

  #watch(fromVersion: number, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const { version, line } of this.#events) {
      if (version > fromVersion && !this.#isHeld) response.write(line);
    }
    this.#watches.push(response);
    response.on('close', () => {
      this.#watches = this.#watches.filter((other) => other !== response);
    });
  }
}

function verbOf({ method, path, query }: ReceivedRequest): string {
  if (method !== 'GET' || path !== COLLECTION) return method;
  return query['watch'] === 'true' ? 'WATCH' : 'LIST';
}
