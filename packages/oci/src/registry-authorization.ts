// The header Authorization of requests to a registry: Basic, or a token of the registry's token server, as the registry asks for
// it. What it asked for is remembered, so that later requests are not refused first.

import type { Clock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf } from '@addon-operator/json';
import { type RegistryConnections, type RegistryRequest, shown } from './registry-connections.ts';
import type { CredentialSource } from './registry-credentials.ts';
import { type Challenge, parseChallenges } from './response-headers.ts';
import { statusError } from './response-status.ts';
import { TokenCache, type TokenUse } from './token-cache.ts';
import { tokenRealm } from './token-realm.ts';

/** A repository, and the actions of a request on it. */
export interface RepositoryAccess {
  /** Of the registry, with its protocol. */
  readonly base: URL;
  readonly host: string;
  readonly name: string;
  readonly actions: 'pull' | 'pull,push';
}

export interface AuthorizationOptions {
  readonly clock: Clock;
  readonly connections: Pick<RegistryConnections, 'send'>;
  readonly credentials: CredentialSource;
}

const MAX_TOKEN_RESPONSE_BYTES = 65_536;
const CLIENT_ID = 'addon-operator';

export class RegistryAuthorization {
  readonly #options: AuthorizationOptions;
  readonly #tokens: TokenCache;
  readonly #challenges = new Map<string, Challenge>();

  constructor(options: AuthorizationOptions) {
    this.#options = options;
    this.#tokens = new TokenCache(options.clock);
  }

  /** The header for a request, as far as it is known what the registry asks for. */
  async header(access: RepositoryAccess, signal: AbortSignal): Promise<string | undefined> {
    const challenge = this.#challenges.get(keyOf(access));
    return challenge && (await this.#respondTo(challenge, access, signal));
  }

  /**
   * The header for a second attempt after 401; undefined where that would be the same request again.
   *
   * @param refused the header of the first attempt
   */
  async headerAfter401(
    header: string | undefined,
    access: RepositoryAccess,
    refused: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const challenges = parseChallenges(header ?? '');
    const challenge = ['bearer', 'basic'].flatMap((name) =>
      challenges.filter(({ scheme }) => scheme === name),
    )[0];
    if (challenge === undefined) return undefined;
    this.#challenges.set(keyOf(access), challenge);
    if (refused !== undefined && challenge.scheme === 'bearer') {
      this.#tokens.drop(await this.#useOf(challenge, access, signal));
    }
    const next = await this.#respondTo(challenge, access, signal);
    return next === refused ? undefined : next;
  }

  async #respondTo(
    challenge: Challenge,
    access: RepositoryAccess,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const use = await this.#useOf(challenge, access, signal);
    const { credential } = use;
    if (challenge.scheme === 'basic') {
      return credential && 'username' in credential ? basic(credential) : undefined;
    }
    return `Bearer ${this.#tokens.get(use) ?? (await this.#requestToken(use, access, signal))}`;
  }

  async #useOf({ parameters }: Challenge, access: RepositoryAccess, signal: AbortSignal): Promise<TokenUse> {
    const { host, name, actions } = access;
    const { realm = '', service = '' } = parameters;
    const own = `repository:${name}:${actions}`;
    // A push begins with requests that only read, for which the registry would ask for less.
    const scope = actions === 'pull' ? (parameters['scope'] ?? own) : own;
    const credential = await this.#options.credentials(`${host}/${name}`, signal);
    return { registry: host, realm, service, scope, credential };
  }

  async #requestToken(use: TokenUse, access: RepositoryAccess, signal: AbortSignal): Promise<string> {
    const { host } = access;
    const realm = tokenRealm(use, access);
    const requestedMs = this.#options.clock.steadyMs();
    const response = await this.#options.connections.send(tokenRequest(realm, use), signal);
    const body = await response.json(MAX_TOKEN_RESPONSE_BYTES);
    if (response.status !== 200) {
      const account = use.credential === undefined ? 'without an account' : 'with the account that was given';
      const message = `The token server ${shown(realm)} of ${host}/${access.name} returned ${response.status} ${account}`;
      throw statusError(response, message, this.#options.clock.wallMs());
    }
    const { token, access_token: accessToken, expires_in: seconds } = fieldsOf(body);
    const found = typeof token === 'string' && token !== '' ? token : accessToken;
    if (typeof found !== 'string' || found === '') {
      throw new OperatorError('REGISTRY_UNREACHABLE', `The token server ${shown(realm)} returned no token`);
    }
    this.#tokens.put(use, found, requestedMs, typeof seconds === 'number' ? seconds : undefined);
    return found;
  }
}

function basic({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** With a refresh token the protocol of OAuth 2 is used, else that of docker, which all token servers have. */
function tokenRequest(realm: URL, { service, scope, credential }: TokenUse): RegistryRequest {
  if (credential !== undefined && 'identityToken' in credential) {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      service,
      scope,
      client_id: CLIENT_ID,
      refresh_token: credential.identityToken,
    });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = Buffer.from(form.toString());
    return { method: 'POST', url: realm, headers, body };
  }
  const url = new URL(realm);
  if (service !== '') url.searchParams.set('service', service);
  for (const one of scope.split(' ')) url.searchParams.append('scope', one);
  return {
    method: 'GET',
    url,
    headers: credential === undefined ? {} : { Authorization: basic(credential) },
  };
}

function keyOf({ base, name, actions }: RepositoryAccess): string {
  return `${base.host} ${name} ${actions}`;
}
