import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { parseJson } from '@addon-operator/json';

export interface ApiAccess {
  readonly serverUrl: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ApiResponse {
  readonly status: number;
  /** Parsed JSON, or the text when it is none. */
  readonly body: unknown;
}

export interface ProbeRequest {
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Default: JSON. */
  readonly accept?: string;
}

const TIMEOUT_MS = 30_000;
/** A handshake takes both sides more work than what most requests ask for. */
const agent = new Agent({ keepAlive: true });

/** Looks at and changes the cluster from a test's side, as administrator and by no code of the product. */
export class ApiProbe {
  readonly #access: ApiAccess;
  #identity: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer } | undefined;

  constructor(access: ApiAccess) {
    this.#access = access;
  }

  /** One request; every HTTP status is a response. Rejects when there is none within 30 s. */
  async request(what: ProbeRequest): Promise<ApiResponse> {
    const { method = 'GET', path, body, contentType, accept = 'application/json' } = what;
    const { serverUrl, caFile, certFile, keyFile } = this.#access;
    this.#identity ??= { ca: readFileSync(caFile), cert: readFileSync(certFile), key: readFileSync(keyFile) };
    const { promise, resolve, reject } = Promise.withResolvers<ApiResponse>();
    const outgoing = request(new URL(path, serverUrl), {
      method,
      agent,
      ...this.#identity,
      headers: { 'content-type': contentType ?? 'application/json', accept },
      timeout: TIMEOUT_MS,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer to ${method} ${path}`)));
    outgoing.on('error', (error) => {
      // The server closed an idle connection while the request was on its way, and has not looked at it.
      const wasClosed = outgoing.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
      if (wasClosed) resolve(this.request(what));
      else reject(error);
    });
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: incoming.statusCode ?? 0, body: jsonOrText(text) });
      });
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    return await promise;
  }

  /** As {@link request}, but a status outside 2xx is an error. Returns the body. */
  async expect(request: ProbeRequest): Promise<unknown> {
    const { status, body } = await this.request(request);
    if (status >= 200 && status < 300) return body;
    throw new Error(`${request.method ?? 'GET'} ${request.path} answered ${status}: ${JSON.stringify(body)}`);
  }

  /** Creates a namespace with a fresh name that starts with `prefix`, and returns the name. */
  async createNamespace(prefix: string): Promise<string> {
    const body = await this.expect({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: `${prefix}-` } },
    });
    return (body as { metadata: { name: string } }).metadata.name;
  }
}

function jsonOrText(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
