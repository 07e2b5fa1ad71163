import { isObject } from '@addon-operator/json';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';

type Stored = Readonly<Record<string, unknown>>;

/** Single objects of an API server, in memory: created, read, replaced at their version, deleted. */
export class ObjectApi implements KubeClient {
  /** By URL path. */
  readonly objects = new Map<string, Stored>();
  /** `METHOD path` of every request, in order. */
  readonly calls: string[] = [];
  /** Taken before a request is carried out; what one throws is the response. */
  readonly obstacles: ((request: KubeRequest) => void)[] = [];
  #version = 0;

  async request(request: KubeRequest): Promise<unknown> {
    const { method, path, body } = request;
    this.calls.push(`${method} ${path}`);
    this.obstacles.shift()?.(request);
    const metadata = isObject(body) && isObject(body['metadata']) ? body['metadata'] : {};
    const at = method === 'POST' ? `${path}/${String(metadata['name'])}` : path;
    const current = this.objects.get(at);
    if (method === 'POST') {
      if (current !== undefined) throw refused(409, 'AlreadyExists');
      return this.#store(at, body, metadata);
    }
    if (current === undefined) throw refused(404, 'NotFound');
    if (method === 'GET') return structuredClone(current);
    if (method === 'DELETE') return this.objects.delete(at);
    const held = isObject(current['metadata']) ? current['metadata']['resourceVersion'] : undefined;
    if (metadata['resourceVersion'] !== held) throw refused(409, 'Conflict');
    return this.#store(at, body, metadata);
  }

  stream(): Promise<AsyncIterable<string>> {
    return Promise.reject(new Error('there are no watches here'));
  }

  #store(at: string, body: unknown, metadata: Stored): Stored {
    this.#version += 1;
    const stored = {
      ...(isObject(body) ? body : {}),
      metadata: { ...metadata, resourceVersion: String(this.#version) },
    };
    this.objects.set(at, structuredClone(stored));
    return stored;
  }
}

export function refused(status: number, reason: string): KubeApiError {
  return new KubeApiError(`refused: ${reason}`, { status, reason });
}
