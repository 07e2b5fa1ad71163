import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import type { ClusterAccess, Material, PluginUser } from './cluster-access.ts';

/** Certificates of a connection and the header of a request, read from the places that the access names. */
export interface Credentials {
  /** In PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Value of the Authorization header. */
  readonly authorization?: string;
}

/** Makes credentials by a plug-in. `isForced` says that the last ones were refused by the server. */
export type PluginCredentials = (isForced: boolean, signal: AbortSignal) => Promise<Credentials>;

interface CredentialDeps {
  readonly clock: SteadyClock;
  readonly readFile: (path: string) => Promise<string>;
  readonly loadPlugin: (user: PluginUser) => Promise<PluginCredentials>;
}

/** Half of the promised 60 s: two readings fall into it. */
const MAX_AGE_MS = 30_000;

/** Credentials of one API server, re-read from their files so that rotated ones are used within 60 s. */
export class CredentialStore {
  readonly #access: ClusterAccess;
  readonly #deps: CredentialDeps;
  #plugin: PluginCredentials | undefined;
  #held: { readonly credentials: Credentials; readonly readAtMs: number } | undefined;

  constructor(access: ClusterAccess, deps: CredentialDeps) {
    this.#access = access;
    this.#deps = deps;
  }

  /**
   * Credentials at most 30 s old. If a file cannot be read, older credentials stay in use: a rotation may be writing it.
   *
   * @throws OperatorError KUBE_CONFIG_INVALID when the first reading fails or a plug-in does
   */
  async current(signal: AbortSignal): Promise<Credentials> {
    const held = this.#held;
    const ageMs = held === undefined ? 0 : this.#deps.clock.steadyMs() - held.readAtMs;
    if (held !== undefined && ageMs < MAX_AGE_MS) return held.credentials;
    try {
      return await this.#read(false, signal);
    } catch (error) {
      if (held === undefined || this.#access.identity.type === 'plugin') throw error;
      this.#held = { ...held, readAtMs: this.#deps.clock.steadyMs() };
      return held.credentials;
    }
  }

  /** Reads everything again, after the server refused the current credentials. */
  refresh(signal: AbortSignal): Promise<Credentials> {
    return this.#read(true, signal);
  }

  async #read(isForced: boolean, signal: AbortSignal): Promise<Credentials> {
    signal.throwIfAborted();
    const { tls } = this.#access;
    const credentials: Credentials = {
      ...(tls.ca === undefined ? {} : { ca: await this.#contentOf(tls.ca, 'certificate-authority') }),
      ...(tls.client === undefined
        ? {}
        : {
            cert: await this.#contentOf(tls.client.cert, 'client-certificate'),
            key: await this.#contentOf(tls.client.key, 'client-key'),
          }),
      ...(await this.#identity(isForced, signal)),
    };
    this.#held = { credentials, readAtMs: this.#deps.clock.steadyMs() };
    return credentials;
  }

  /** The part of the credentials that goes into the Authorization header, or a certificate from a plug-in. */
  async #identity(isForced: boolean, signal: AbortSignal): Promise<Credentials> {
    const { identity } = this.#access;
    switch (identity.type) {
      case 'anonymous':
        return {};
      case 'token':
        return this.#bearer(identity.token);
      case 'basic': {
        const pair = Buffer.from(`${identity.username}:${identity.password}`).toString('base64');
        return { authorization: `Basic ${pair}` };
      }
      case 'plugin':
        this.#plugin ??= await this.#deps.loadPlugin(identity.user);
        return this.#plugin(isForced, signal);
    }
  }

  async #bearer(material: Material): Promise<Credentials> {
    const token = (await this.#contentOf(material, 'token')).trim();
    // Anything else would break the header, and the error of the HTTP library would show the token.
    if (!/^[\x21-\x7e]+$/.test(token)) throw this.#invalid('the token is empty or holds white space');
    return { authorization: `Bearer ${token}` };
  }

  async #contentOf(material: Material, field: string): Promise<string> {
    if (material.type === 'text') return material.text;
    try {
      return await this.#deps.readFile(material.path);
    } catch (error) {
      throw this.#invalid(`${field}: ${material.path} cannot be read`, error);
    }
  }

  /** An error that names the file and the field, never the value. */
  #invalid(problem: string, cause?: unknown): OperatorError {
    const place = this.#access.source;
    return new OperatorError(
      'KUBE_CONFIG_INVALID',
      `Cannot use the Kubernetes configuration of ${place}: ${problem}`,
      {
        cause,
      },
    );
  }
}
