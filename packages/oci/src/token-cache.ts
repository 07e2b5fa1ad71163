import { createHash } from 'node:crypto';
import type { SteadyClock } from '@addon-operator/base/clock';
import type { Credential } from './registry-credentials.ts';

/** The use of a token: where it is valid, and for which account. */
export interface TokenUse {
  readonly registry: string;
  readonly realm: string;
  readonly service: string;
  readonly scope: string;
  /** Undefined without an account. */
  readonly credential: Credential | undefined;
}

const MS_PER_SECOND = 1_000;
/** A token is replaced before it expires on its way. */
const USED_PART = 0.9;
/** The default of the token protocol for a response without a time. */
const DEFAULT_SECONDS = 60;
const MAX_TOKENS = 1_000;

/** Tokens of registries until nine tenths of their time are over. One for a credential is never given to another one. */
export class TokenCache {
  readonly #clock: SteadyClock;
  readonly #tokens = new Map<string, { readonly token: string; readonly expiresMs: number }>();

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  get(use: TokenUse): string | undefined {
    const key = keyOf(use);
    const kept = this.#tokens.get(key);
    if (kept === undefined) return undefined;
    if (this.#clock.steadyMs() < kept.expiresMs) return kept.token;
    this.#tokens.delete(key);
    return undefined;
  }

  /** @param requestedMs on the steady clock, before the token server issued it */
  put(use: TokenUse, token: string, requestedMs: number, expiresInSeconds: number = DEFAULT_SECONDS): void {
    if (this.#tokens.size >= MAX_TOKENS) this.#tokens.delete(this.#tokens.keys().next().value ?? '');
    const expiresMs = requestedMs + expiresInSeconds * MS_PER_SECOND * USED_PART;
    this.#tokens.set(keyOf(use), { token, expiresMs });
  }

  /** Of a token that the registry refused. */
  drop(use: TokenUse): void {
    this.#tokens.delete(keyOf(use));
  }
}

/** A digest, so that no password is a key in memory for longer than it has to. */
function keyOf({ registry, realm, service, scope, credential }: TokenUse): string {
  const account =
    credential === undefined
      ? []
      : 'identityToken' in credential
        ? [credential.identityToken]
        : [credential.username, credential.password];
  const parts = JSON.stringify([registry, realm, service, scope, account]);
  return createHash('sha256').update(parts).digest('base64');
}
