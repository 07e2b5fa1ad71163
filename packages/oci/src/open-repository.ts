import { isIP } from 'node:net';
import type { Clock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { LayoutRepository } from './layout-repository.ts';
import { RegistryAuthorization } from './registry-authorization.ts';
import { RegistryConnections } from './registry-connections.ts';
import type { CredentialSource } from './registry-credentials.ts';
import { RegistryEndpoint } from './registry-endpoint.ts';
import { RegistryRepository } from './registry-repository.ts';
import type { WritableRepository } from './repository.ts';
import { parseRepositoryUrl } from './repository-url.ts';

export interface SessionOptions {
  readonly clock: Clock;
  /** Default: no account. */
  readonly credentials?: CredentialSource | undefined;
  /** Certificates of authorities (PEM) that are trusted in addition to those of the system. */
  readonly ca?: string | undefined;
  /** For the headers of a response, and for each further piece of its body. Default 30 s. */
  readonly responseTimeoutMs?: number;
}

export interface RepositoryOptions extends SessionOptions {
  /** URLs of the same repository at mirrors: asked first, in this order, for content by digest. */
  readonly mirrors?: readonly string[];
  /** Called when a mirror could not serve something; the next one, or the registry, is asked. */
  readonly onMirrorFailure?: (mirror: string, error: unknown) => void;
}

/** Connections, tokens and accounts that the repositories of a source share. */
export class RegistrySession {
  readonly #options: SessionOptions;
  readonly #connections: RegistryConnections;
  readonly #authorization: RegistryAuthorization;

  constructor(options: SessionOptions) {
    const { clock, credentials = noAccount } = options;
    this.#options = options;
    this.#connections = new RegistryConnections(options);
    const connections = this.#connections;
    this.#authorization = new RegistryAuthorization({ clock, connections, credentials });
  }

  /**
   * @param url `oci://HOST[:PORT]/PATH` or `oci-layout:///DIRECTORY`, see `openRepository`
   * @throws OperatorError SOURCE_INVALID
   */
  open(
    url: string,
    { mirrors = [], onMirrorFailure = ignore }: Pick<RepositoryOptions, 'mirrors' | 'onMirrorFailure'> = {},
  ): WritableRepository {
    const location = parseRepositoryUrl(url);
    if (location.type === 'layout') return new LayoutRepository(location.directory);
    return new RegistryRepository({
      clock: this.#options.clock,
      registry: this.#endpoint(url),
      mirrors: mirrors.map((mirror) => this.#endpoint(mirror)),
      onMirrorFailure,
    });
  }

  /** Closes all connections. */
  close(): void {
    this.#connections.close();
  }

  #endpoint(url: string): RegistryEndpoint {
    const location = parseRepositoryUrl(url);
    if (location.type === 'layout')
      throw new OperatorError('SOURCE_INVALID', `${url}: a mirror is a registry`);
    const { host, name } = location;
    const { clock } = this.#options;
    const parts = { clock, connections: this.#connections, authorization: this.#authorization };
    return new RegistryEndpoint(host, name, isLoopback(host), parts);
  }
}

/**
 * One repository, with connections and tokens of its own:
 * - `oci://HOST[:PORT]/PATH` at a registry: https, and http for localhost and loopback addresses, as other clients do
 * - `oci-layout:///DIRECTORY`, an OCI image layout; several repositories are several directories, each a layout
 *
 * @throws OperatorError SOURCE_INVALID
 */
export function openRepository(url: string, options: RepositoryOptions): WritableRepository {
  return new RegistrySession(options).open(url, options);
}

function isLoopback(host: string): boolean {
  const { hostname } = new URL(`http://${host}`);
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
  );
}

async function noAccount(): Promise<undefined> {
  return await Promise.resolve(undefined);
}

function ignore(): void {}
