import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertifiedKey } from '@addon-operator/crypto/x509-certificate';
import { ACCOUNTS } from './accounts.ts';
import { isListening, startRegistry } from './registry-process.ts';
import { TokenServer } from './token-server.ts';

export interface DistributionOptions {
  /** Accounts are those of `accounts.ts`. Default: none is needed. */
  readonly auth?: 'basic' | 'token';
  /** The registry serves https with it. */
  readonly tls?: CertifiedKey;
  readonly port?: number;
}

/** The reference implementation of a registry on loopback, which has no referrers API. It forgets everything at its end. */
export class DistributionRegistry implements AsyncDisposable {
  /** `localhost:PORT`. */
  readonly host: string;
  /** Of a registry with `token`. */
  readonly tokens: TokenServer | undefined;
  readonly #stop: () => Promise<void>;

  private constructor(host: string, tokens: TokenServer | undefined, stop: () => Promise<void>) {
    this.host = host;
    this.tokens = tokens;
    this.#stop = stop;
  }

  static async start(signal: AbortSignal, options: DistributionOptions = {}): Promise<DistributionRegistry> {
    await using cleanup = new AsyncDisposableStack();
    const tokens = options.auth === 'token' ? cleanup.use(await TokenServer.start()) : undefined;
    const { host, stop } = await startRegistry(
      'distribution',
      async (address, directory) => {
        const config = await configOf(address, directory, options, tokens);
        await writeFile(join(directory, 'config.yaml'), JSON.stringify(config));
        return ['serve', join(directory, 'config.yaml')];
      },
      { port: options.port, ...(options.tls && { isReady: isListening }) },
      signal,
    );
    cleanup.defer(stop);
    const stack = cleanup.move();
    return new DistributionRegistry(host, tokens, async () => await stack.disposeAsync());
  }

  /** `oci://localhost:PORT/NAME`. */
  url(name: string): string {
    return `oci://${this.host}/${name}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

/** JSON is YAML too. */
async function configOf(
  address: string,
  directory: string,
  { auth, tls }: DistributionOptions,
  tokens: TokenServer | undefined,
): Promise<object> {
  const files = {
    htpasswd: Object.entries(ACCOUNTS)
      .map(([name, { bcrypt }]) => `${name}:${bcrypt}\n`)
      .join(''),
    'jwks.json': JSON.stringify(tokens?.keySet ?? {}),
    'tls.crt': tls?.cert ?? '',
    'tls.key': tls?.key ?? '',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  const path = (name: string): string => join(directory, name);
  return {
    version: 0.1,
    log: { level: 'warn' },
    storage: { inmemory: {}, delete: { enabled: true } },
    http: {
      addr: address,
      secret: 'of-a-test',
      ...(tls && { tls: { certificate: path('tls.crt'), key: path('tls.key') } }),
    },
    ...(auth === 'basic' && { auth: { htpasswd: { realm: 'test', path: path('htpasswd') } } }),
    ...(tokens && {
      auth: {
        token: {
          realm: tokens.realm,
          service: tokens.service,
          issuer: tokens.issuer,
          jwks: path('jwks.json'),
        },
      },
    }),
  };
}
