import { generateKeyPairSync, type JsonWebKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { systemClock } from '@addon-operator/base/clock';
import { ACCOUNTS, type AccountName, basicOf } from './accounts.ts';

const MS_PER_SECOND = 1_000;
const KEY_ID = 'test';

export interface IssuedToken {
  readonly account: AccountName | 'anonymous';
  readonly scopes: readonly string[];
  readonly token: string;
}

/** Issues tokens of Docker's token protocol, in both of its forms: GET with Basic, and POST with a refresh token. */
export class TokenServer implements AsyncDisposable {
  readonly realm: string;
  readonly service = 'registry.test';
  readonly issuer = 'test';
  /** For the registry, which verifies tokens with it. */
  readonly keySet: { readonly keys: readonly JsonWebKey[] };
  readonly issued: IssuedToken[] = [];
  /** Of tokens that are issued from now on. */
  expiresInSeconds = 300;
  readonly #server: Server;
  readonly #key: KeyObject;

  private constructor(server: Server) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.keySet = {
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'ES256', use: 'sig' }],
    };
    this.#key = privateKey;
    this.#server = server;
    this.realm = `http://localhost:${(server.address() as AddressInfo).port}/token`;
    server.on('request', (request, response) => void this.#respond(request, response));
  }

  static async start(): Promise<TokenServer> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, 'localhost', resolve));
    return new TokenServer(server);
  }

  /** What an account's `identitytoken` is. */
  static refreshTokenOf(account: AccountName): string {
    return `refresh-${account}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isPost = request.method === 'POST';
    const parameters = isPost
      ? new URLSearchParams(await text(request))
      : new URL(request.url ?? '/', this.realm).searchParams;
    const account = isPost
      ? accountWhere((name) => parameters.get('refresh_token') === TokenServer.refreshTokenOf(name))
      : accountOfHeader(request.headers.authorization);
    if (account === undefined) {
      response.writeHead(401).end('{"errors": [{"code": "UNAUTHORIZED"}]}');
      return;
    }
    const scopes = parameters.getAll('scope').flatMap((scope) => scope.split(' '));
    const token = this.#issue(account, scopes);
    this.issued.push({ account, scopes, token });
    const { expiresInSeconds: expires_in } = this;
    response.end(JSON.stringify({ [isPost ? 'access_token' : 'token']: token, expires_in }));
  }

  #issue(account: IssuedToken['account'], scopes: readonly string[]): string {
    const nowSeconds = Math.floor(systemClock.wallMs() / MS_PER_SECOND);
    const claims = {
      iss: this.issuer,
      sub: account,
      aud: this.service,
      exp: nowSeconds + this.expiresInSeconds,
      nbf: nowSeconds,
      iat: nowSeconds,
      jti: randomUUID(),
      access: scopes.flatMap((scope) => {
        const [, type = '', name = '', actions = ''] = /^(\w+):(.*):([\w,*]+)$/.exec(scope) ?? [];
        const isGranted = name.startsWith(`${account}/`) || name.startsWith('shared/');
        return isGranted ? [{ type, name, actions: actions.split(',') }] : [];
      }),
    };
    const content = [{ alg: 'ES256', typ: 'JWT', kid: KEY_ID }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(content), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `${content}.${signature.toString('base64url')}`;
  }
}

function accountOfHeader(header: string | undefined): IssuedToken['account'] | undefined {
  return header === undefined ? 'anonymous' : accountWhere((name) => header === `Basic ${basicOf(name)}`);
}

function accountWhere(matches: (name: AccountName) => boolean): AccountName | undefined {
  return (Object.keys(ACCOUNTS) as AccountName[]).find(matches);
}
