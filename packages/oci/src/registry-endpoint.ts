import type { Clock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf } from '@addon-operator/json';
import { escapeControls } from '@addon-operator/strings/escape-controls';
import type { RegistryAuthorization } from './registry-authorization.ts';
import {
  type RegistryConnections,
  type RegistryRequest,
  type RegistryResponse,
  shown,
} from './registry-connections.ts';
import { isDockerHub } from './repository-url.ts';
import { statusError } from './response-status.ts';

export interface EndpointParts {
  readonly clock: Clock;
  readonly connections: RegistryConnections;
  readonly authorization: RegistryAuthorization;
}

export interface EndpointRequest extends Omit<RegistryRequest, 'url' | 'headers'> {
  /** Below the repository, such as `tags/list`, or a URL that the registry returned. */
  readonly path: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly actions?: 'pull' | 'pull,push';
  /** Statuses that are results; every other one is an error. */
  readonly expect: readonly number[];
}

const MAX_ERROR_BYTES = 65_536;
const MAX_ERROR_CHARACTERS = 300;
const DOCKER_HUB_SERVER = 'registry-1.docker.io';

/** One repository at one registry: requests with authorization, and what their statuses mean. */
export class RegistryEndpoint {
  /** For messages. */
  readonly url: string;
  readonly #access: { readonly base: URL; readonly host: string; readonly name: string };
  readonly #parts: EndpointParts;

  constructor(host: string, name: string, isPlainHttp: boolean, parts: EndpointParts) {
    this.url = `oci://${host}/${name}`;
    this.#parts = parts;
    const server = isDockerHub(host) ? DOCKER_HUB_SERVER : host;
    this.#access = { base: new URL(`${isPlainHttp ? 'http' : 'https'}://${server}`), host, name };
  }

  /** @throws OperatorError with the code for the status, or REGISTRY_UNREACHABLE */
  async send(request: EndpointRequest, signal: AbortSignal): Promise<RegistryResponse> {
    const { actions = 'pull', expect } = request;
    const { connections, authorization } = this.#parts;
    const access = { ...this.#access, actions };
    const url = this.#urlOf(request.path);
    // The registry may refer to another host, which gets no credentials.
    const isOwn = url.host === access.base.host;
    const send = async (header: string | undefined): Promise<RegistryResponse> => {
      const headers = { ...request.headers, ...(header !== undefined && isOwn && { Authorization: header }) };
      return await connections.send({ method: request.method, url, headers, body: request.body }, signal);
    };
    let header = await authorization.header(access, signal);
    let response = await send(header);
    if (response.status === 401 && isOwn) {
      const challenge = response.header('www-authenticate');
      const next = await authorization.headerAfter401(challenge, access, header, signal);
      if (next !== undefined) {
        await response.discard();
        header = next;
        response = await send(header);
      }
    }
    if (expect.includes(response.status)) return response;
    throw await this.#refusal(request.method, response, header);
  }

  /** An upload goes to where the registry says; behind a proxy that may lack the s of https. */
  #urlOf(path: string | URL): URL {
    const { base, name } = this.#access;
    const url = typeof path === 'string' ? new URL(`/v2/${name}/${path}`, base) : new URL(path);
    if (base.protocol === 'http:' || url.protocol === 'https:') return url;
    if (url.hostname === base.hostname) return new URL(`${url.pathname}${url.search}`, base);
    throw new OperatorError(
      'REGISTRY_UNREACHABLE',
      `${this.url}: the registry refers to ${shown(url)} without TLS`,
    );
  }

  async #refusal(method: string, response: RegistryResponse, header: string | undefined): Promise<Error> {
    const { status } = response;
    const reason = withoutSecret(await reasonOf(response), header);
    const advice = status === 401 && header === undefined ? '; no account was given for it' : '';
    const message = `${this.url}: ${method} ${response.url.pathname} returned ${status}${reason}${advice}`;
    return statusError(response, message, this.#parts.clock.wallMs());
  }
}

/** The codes and messages of the body, as the specification has them. */
async function reasonOf(response: RegistryResponse): Promise<string> {
  const { errors } = fieldsOf(await response.json(MAX_ERROR_BYTES).catch(() => undefined));
  const reasons = (Array.isArray(errors) ? errors : []).map((error) => {
    const { code, message } = fieldsOf(error);
    return [code, message].filter((part) => typeof part === 'string' && part !== '').join(' ');
  });
  return reasons.length === 0 ? '' : `: ${escapeControls(reasons.join(', ').slice(0, MAX_ERROR_CHARACTERS))}`;
}

/** A registry could repeat what it was sent. */
function withoutSecret(text: string, header: string | undefined): string {
  const secret = header?.slice(header.indexOf(' ') + 1);
  return secret === undefined || secret === '' ? text : text.replaceAll(secret, '***');
}
