import { OperatorError } from '@addon-operator/base/errors';
import { isObject, type JsonObject } from '@addon-operator/json';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';

type Outcome = 'ok' | 'unreachable' | 'applied-but-unanswered' | 'conflict';

/** An API server that holds one Lease in memory and checks resourceVersions; several clients share it. */
export class LeaseServer {
  #version = 0;
  #lease: JsonObject | undefined;
  readonly #watches = new Set<(line: string | undefined) => void>();

  /** The `spec` of the Lease; undefined while there is none. */
  get spec(): JsonObject | undefined {
    return this.#lease === undefined ? undefined : (this.#lease['spec'] as JsonObject);
  }

  /** A person edits the Lease. */
  edit(spec: JsonObject): void {
    this.#store({ ...this.#lease, spec: { ...this.spec, ...spec } });
  }

  delete(): void {
    const deleted = this.#lease;
    this.#lease = undefined;
    if (deleted === undefined) return;
    this.#version += 1;
    this.#notify({ type: 'DELETED', object: withVersion(deleted, this.#version) });
  }

  /** Sends all watches a bookmark. */
  bookmark(): void {
    this.#notify({ type: 'BOOKMARK', object: withVersion({}, this.#version) });
  }

  /** Ends all watches in good order. */
  closeWatches(): void {
    for (const end of this.#watches) end(undefined);
  }

  /** One way to the server, with a network of its own. */
  client(): LeaseClient {
    return new LeaseClient(
      (request) => this.#response(request),
      (signal) => this.#watch(signal),
    );
  }

  #notify(event: JsonObject): void {
    for (const notify of this.#watches) notify(JSON.stringify(event));
  }

  /** What changes from now on. */
  async *#watch(signal: AbortSignal): AsyncGenerator<string> {
    const lines: (string | undefined)[] = [];
    let next = Promise.withResolvers<void>();
    const notify = (line: string | undefined): void => {
      lines.push(line);
      next.resolve();
      next = Promise.withResolvers();
    };
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => undefined);
    signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
    this.#watches.add(notify);
    try {
      for (;;) {
        if (lines.length === 0) await Promise.race([next.promise, aborted.promise]);
        const line = lines.shift();
        if (line === undefined) return;
        yield line;
      }
    } finally {
      this.#watches.delete(notify);
    }
  }

  #response({ method, body }: KubeRequest): JsonObject {
    if (method === 'GET') {
      if (this.#lease === undefined) throw refused(404);
      return this.#lease;
    }
    if (method === 'POST') {
      if (this.#lease !== undefined) throw refused(409);
      return this.#store(body);
    }
    if (this.#lease === undefined) throw refused(404);
    if (versionOf(body) !== versionOf(this.#lease)) throw refused(409);
    return this.#store(body);
  }

  #store(body: unknown): JsonObject {
    this.#version += 1;
    const type = this.#lease === undefined ? 'ADDED' : 'MODIFIED';
    this.#lease = withVersion(JSON.parse(JSON.stringify(body)) as JsonObject, this.#version);
    this.#notify({ type, object: this.#lease });
    return this.#lease;
  }
}

export class LeaseClient implements KubeClient {
  /** What becomes of the requests from now on. */
  outcome: Outcome = 'ok';
  readonly methods: string[] = [];
  /** Whether the role of this client has the verb `watch`. */
  mayWatch = true;
  readonly #response: (request: KubeRequest) => JsonObject;
  readonly #watch: (signal: AbortSignal) => AsyncIterable<string>;

  constructor(
    response: (request: KubeRequest) => JsonObject,
    watch: (signal: AbortSignal) => AsyncIterable<string>,
  ) {
    this.#response = response;
    this.#watch = watch;
  }

  async request(request: KubeRequest, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    this.methods.push(request.method);
    if (this.outcome === 'conflict' && request.method !== 'GET') throw refused(409);
    const response = this.outcome === 'unreachable' ? undefined : this.#response(request);
    if (this.outcome === 'ok' || this.outcome === 'conflict') return response;
    throw new OperatorError('KUBE_UNREACHABLE', 'no answer');
  }

  async stream(_request: KubeRequest, signal: AbortSignal): Promise<AsyncIterable<string>> {
    signal.throwIfAborted();
    this.methods.push('WATCH');
    if (!this.mayWatch) throw refused(403);
    if (this.outcome === 'unreachable') throw new OperatorError('KUBE_UNREACHABLE', 'no answer');
    return this.#watch(signal);
  }
}

function withVersion(lease: JsonObject, version: number): JsonObject {
  return { ...lease, metadata: { name: 'leader', namespace: 'ns', resourceVersion: String(version) } };
}

function versionOf(object: unknown): unknown {
  const metadata = isObject(object) ? object['metadata'] : undefined;
  return isObject(metadata) ? metadata['resourceVersion'] : undefined;
}

function refused(status: number): KubeApiError {
  return new KubeApiError(`refused with ${status}`, { status, reason: status === 404 ? 'NotFound' : '' });
}
