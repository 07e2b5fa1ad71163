import { readFileSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '@addon-operator/base/clock';
import { type ApiVerb, apiVerb } from './api-verb.ts';
import { freePorts } from './control-plane/free-ports.ts';
import { plainKubeconfig } from './control-plane/kubeconfig.ts';
import { type Fault, type FaultMatch, FaultRule } from './fault-rule.ts';

/** Where requests go; with the files, over TLS and with a client certificate. */
export interface Upstream {
  readonly serverUrl: string;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** One request that reached the proxy; `JSON.stringify(proxy.calls)` is the trace of a test. */
export interface ProxiedCall {
  readonly verb: ApiVerb;
  readonly path: string;
  readonly query: string;
  readonly userAgent: string;
  readonly atMs: number;
  /** What was done to it, if anything. */
  readonly fault: Fault['type'] | null;
  /** What the client was answered; null while, or if, it got nothing. */
  status: number | null;
}

/**
 * A plain HTTP server on loopback that forwards to an API server and breaks what its rules say. Clients need no
 * credentials: the proxy brings its own.
 */
export class FaultProxy {
  readonly url: string;
  /** Text of a kubeconfig file that points here. */
  readonly kubeconfig: string;
  readonly calls: ProxiedCall[] = [];
  readonly #upstream: Upstream;
  readonly #clock: Clock;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();
  #server: Server | undefined;
  #rules: FaultRule[] = [];
  #thaw: PromiseWithResolvers<void> | undefined;

  private constructor(upstream: Upstream, clock: Clock, port: number) {
    this.#upstream = upstream;
    this.#clock = clock;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.kubeconfig = plainKubeconfig(this.url);
  }

  static async start(upstream: Upstream, clock: Clock = systemClock): Promise<FaultProxy> {
    const [port = 0] = await freePorts(1);
    const proxy = new FaultProxy(upstream, clock, port);
    await proxy.connect();
    return proxy;
  }

  /** Puts a fault in force; of several rules that match a request the oldest takes it. */
  add(match: FaultMatch, fault: Fault): FaultRule {
    const rule = new FaultRule(match, fault);
    this.#rules.push(rule);
    return rule;
  }

  remove(rule: FaultRule): void {
    this.#rules = this.#rules.filter((other) => other !== rule);
    rule.release();
  }

  /** From now on nothing is forwarded, in either direction, on connections that stay open. */
  freeze(): void {
    this.#thaw ??= Promise.withResolvers<void>();
  }

  thaw(): void {
    this.#thaw?.resolve();
    this.#thaw = undefined;
  }

  /** Resets every open connection. */
  resetConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Resets every connection and refuses new ones, until {@link connect}. */
  async disconnect(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    this.resetConnections();
    await closed;
  }

  /** Accepts connections on the proxy's port. */
  async connect(): Promise<void> {
    const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 });
    server.on('request', (incoming, outgoing) => {
      this.#handle(incoming, outgoing).catch(() => outgoing.destroy());
    });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#server = server;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the proxy was closed'));
    this.thaw();
    for (const rule of this.#rules) rule.release();
    await this.disconnect();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { pathname: path, search, searchParams } = new URL(incoming.url ?? '/', this.url);
    const request = {
      verb: apiVerb(incoming.method ?? 'GET', path, searchParams),
      path,
      query: search.slice(1),
    };
    const rule = this.#rules.find((candidate) => candidate.hit(request));
    const call: ProxiedCall = {
      ...request,
      userAgent: incoming.headers['user-agent'] ?? '',
      atMs: this.#clock.steadyMs(),
      fault: rule?.fault.type ?? null,
      status: null,
    };
    this.calls.push(call);
    await this.#thaw?.promise;
    if (rule === undefined) return await this.#forward(incoming, outgoing, call);
    await this.#harm(rule, incoming, outgoing, call);
  }

  async #harm(
    rule: FaultRule,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    call: ProxiedCall,
  ): Promise<void> {
    const { fault } = rule;
    switch (fault.type) {
      case 'delay':
        await this.#clock.sleep(fault.ms, this.#closing.signal);
        return await this.#forward(incoming, outgoing, call);
      case 'hold':
        await rule.released;
        return await this.#forward(incoming, outgoing, call);
      case 'status':
        return sendStatus(outgoing, call, fault.status, fault.retryAfterSeconds);
      case 'page':
        call.status = fault.status;
        outgoing.writeHead(fault.status, { 'content-type': 'text/html' }).end('<html>No such page</html>');
        return undefined;
      case 'end':
        call.status = 200;
        outgoing.writeHead(200, { 'content-type': 'application/json' }).end();
        return undefined;
      case 'rst':
        incoming.socket.resetAndDestroy();
        return undefined;
      case 'blackhole':
        return undefined;
      case 'cut-after-bytes':
        return await this.#forward(incoming, outgoing, call, fault.bytes);
      case 'apply-then-fail': {
        const reply = await this.#send(incoming, outgoing);
        reply.resume();
        return sendStatus(outgoing, call, fault.status);
      }
    }
  }

  async #forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    call: ProxiedCall,
    maxBytes = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const reply = await this.#send(incoming, outgoing);
    await this.#thaw?.promise;
    call.status = reply.statusCode ?? 0;
    outgoing.writeHead(call.status, endToEndHeaders(reply.headers));
    outgoing.flushHeaders();
    let leftBytes = maxBytes;
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      await this.#thaw?.promise;
      outgoing.write(chunk.subarray(0, leftBytes));
      leftBytes -= chunk.length;
      if (leftBytes <= 0) {
        outgoing.socket?.destroySoon();
        return;
      }
    }
    outgoing.end();
  }

  /** Sends the request on; the response is destroyed when the client goes away. */
  async #send(incoming: IncomingMessage, outgoing: ServerResponse): Promise<IncomingMessage> {
    const { serverUrl, caFile, certFile, keyFile } = this.#upstream;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const send = serverUrl.startsWith('https:') ? httpsRequest : httpRequest;
    const { host: _host, ...headers } = endToEndHeaders(incoming.headers);
    const upstream = send(new URL(incoming.url ?? '/', serverUrl), {
      agent: false,
      method: incoming.method,
      headers,
      ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
      ...(certFile === undefined ? {} : { cert: readFileSync(certFile) }),
      ...(keyFile === undefined ? {} : { key: readFileSync(keyFile) }),
    });
    upstream.on('error', reject);
    upstream.on('response', resolve);
    outgoing.once('close', () => upstream.destroy());
    incoming.pipe(upstream);
    return await promise;
  }
}

function endToEndHeaders(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const {
    connection: _connection,
    'transfer-encoding': _encoding,
    'keep-alive': _keepAlive,
    ...rest
  } = headers;
  return rest;
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function sendStatus(
  outgoing: ServerResponse,
  call: ProxiedCall,
  status: number,
  retryAfterSeconds?: number,
): void {
  call.status = status;
  const reason = REASONS[status] ?? 'Unknown';
  const message = `the fault proxy answers ${status}`;
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  });
  outgoing.end(
    JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message, code: status }),
  );
}
