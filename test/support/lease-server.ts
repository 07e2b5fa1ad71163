import { OperatorError } from '@addon-operator/base/errors';
import { isObject, type JsonObject } from '@addon-operator/json';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';

type Outcome = 'ok' | 'unreachable' | 'applied-but-unanswered' | 'conflict';

/** An API server that holds one Lease in memory and checks resourceVersions; several clients share it. */
export class LeaseServer {
  #version = 0;
  #lease: JsonObject | undefined;

  /** The `spec` of the Lease; undefined while there is none. */
  get spec(): JsonObject | undefined {
    return this.#lease === undefined ? undefined : (this.#lease['spec'] as JsonObject);
  }

  /** A person edits the Lease. */
  edit(spec: JsonObject): void {
    this.#store({ ...this.#lease, spec: { ...this.spec, ...spec } });
  }

  delete(): void {
    this.#lease = undefined;
  }

  /** One way to the server, with a network of its own. */
  client(): LeaseClient {
    return new LeaseClient((request) => this.#answer(request));
  }

  #answer({ method, body }: KubeRequest): JsonObject {
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
    const metadata = { name: 'leader', resourceVersion: String(this.#version) };
    this.#lease = { ...(JSON.parse(JSON.stringify(body)) as JsonObject), metadata };
    return this.#lease;
  }
}

export class LeaseClient implements KubeClient {
  /** What becomes of the requests from now on. */
  outcome: Outcome = 'ok';
  readonly methods: string[] = [];
  readonly #answer: (request: KubeRequest) => JsonObject;

  constructor(answer: (request: KubeRequest) => JsonObject) {
    this.#answer = answer;
  }

  async request(request: KubeRequest, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    this.methods.push(request.method);
    if (this.outcome === 'conflict' && request.method !== 'GET') throw refused(409);
    const answer = this.outcome === 'unreachable' ? undefined : this.#answer(request);
    if (this.outcome === 'ok' || this.outcome === 'conflict') return answer;
    throw new OperatorError('KUBE_UNREACHABLE', 'no answer');
  }

  stream(): Promise<AsyncIterable<string>> {
    return Promise.reject(new OperatorError('INTERNAL', 'Nobody watches a Lease'));
  }
}

function versionOf(object: unknown): unknown {
  const metadata = isObject(object) ? object['metadata'] : undefined;
  return isObject(metadata) ? metadata['resourceVersion'] : undefined;
}

function refused(status: number): KubeApiError {
  return new KubeApiError(`refused with ${status}`, { status, reason: status === 404 ? 'NotFound' : '' });
}
