/**
 * Who sends a request to the page's API, in the three modes of `--ui-auth`: a token that all clients share, a token of
 * Kubernetes, or a user that an authenticating proxy names. One mode is active; credentials of the others are ignored. In the
 * last two modes the API server decides what a person may read and do.
 */

import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { RequestOrigin } from '@addon-operator/http-server/serve';
import { RequestRefusal } from '../server/api/request-refusal.ts';
import { type ModuleAccess, type Requester, trustedRequester } from '../server/api/requester.ts';
import { bearerToken, isSameToken } from '../server/debug-access.ts';
import {
  type AccessReviews,
  keyOfSecret,
  MAX_AGE_MS,
  type ReviewedUser,
  type TokenHolder,
} from './access-reviews.ts';
import { FailedSignIns } from './failed-sign-ins.ts';
import { headerOf, isProxyAddress, type ProxySettings, userOfHeaders } from './proxy-identity.ts';

/** Returns the client of a request. @throws RequestRefusal 401, 429 or 503 when it cannot be signed in */
export type SignIn = (origin: RequestOrigin) => Promise<Requester>;

export interface SignInOptions {
  readonly clock: Clock;
  /** Whether actions are switched on. */
  readonly hasActions: boolean;
}

const TOKEN_HEADER = 'x-addon-operator-token';
/** A stream through a proxy ends after this time, so that the proxy checks its sign-in again. */
const PROXY_STREAM_MS = 10 * 60_000;
/** Of a name in logs and Events. */
const MAX_NAME = 200;
const MIN_SECRET = 16;
const MAX_ACCEPTED = 1_000;

/** One token for all clients. */
export function sharedTokenSignIn(token: string, { clock, hasActions }: SignInOptions): SignIn {
  const failed = new FailedSignIns(clock);
  const requester = trustedRequester('page', { signIn: 'token', allowsActions: hasActions });
  return async ({ headers, connection }) => {
    const given = tokenOf(headers);
    if (given !== undefined && isSameToken(given, token)) return requester;
    if (given !== undefined) failed.attempt(addressOf(connection));
    throw unauthorized('open the address that `addon-operator ui` prints');
  };
}

/** Tokens of Kubernetes, which the API server checks. */
export function kubernetesSignIn(reviews: AccessReviews, { clock, hasActions }: SignInOptions): SignIn {
  const failed = new FailedSignIns(clock);
  const accepted = new AcceptedTokens();
  const holderOf = async (token: string, address: string): Promise<TokenHolder> => {
    // People who have signed in are not locked out by others behind the same proxy.
    const notFailed = accepted.has(token) ? () => undefined : failed.attempt(address);
    const holder = await reviews.holderOf(token).catch((error: unknown) => {
      notFailed();
      throw error;
    });
    if (holder === undefined) {
      accepted.delete(token);
      throw EXPIRED;
    }
    notFailed();
    accepted.add(token);
    return holder;
  };
  return async ({ headers, connection }) => {
    const token = tokenOf(headers);
    if (token === undefined)
      throw unauthorized('sign in with a token, such as that of `kubectl create token NAME -n NAMESPACE`');
    const { user, expiresAtMs } = await holderOf(token, addressOf(connection));
    return person(user, {
      signIn: 'kubernetes',
      hasActions,
      reviews,
      expiresAtMs,
      endsAtMs: expiresAtMs ?? Number.POSITIVE_INFINITY,
      // A stream lives longer than one look at its token.
      requireSignedIn: async () => {
        if ((await reviews.holderOf(token)) === undefined) throw EXPIRED;
      },
    });
  };
}

/** Users that an authenticating proxy names, from its addresses and with its secret only. */
export function proxySignIn(
  reviews: AccessReviews,
  settings: ProxySettings,
  {
    clock,
    hasActions,
    readSecret,
    log,
  }: SignInOptions & { readonly readSecret: () => Promise<string>; readonly log: Logger },
): SignIn {
  const failed = new FailedSignIns(clock);
  return async ({ headers, connection }) => {
    if (!isProxyAddress(settings.uiProxyAddresses, connection.remoteAddress)) throw THROUGH_PROXY;
    const given = headerOf(headers, settings.uiProxySecretHeader);
    if (given === '') throw THROUGH_PROXY;
    const secret = await readSecret().catch((error: unknown) => {
      log.error(
        { error },
        'cannot read the secret of the proxy (--ui-proxy-secret-file), its requests are refused',
      );
      return '';
    });
    if (secret.length < MIN_SECRET)
      throw new RequestRefusal(
        503,
        'REQUEST_REFUSED',
        `the secret of the proxy cannot be read, or has less than ${MIN_SECRET} characters: see --ui-proxy-secret-file`,
      );
    // The right secret always passes: otherwise another client of the same address could lock people out.
    if (!isSameToken(given, secret)) {
      failed.attempt(addressOf(connection));
      throw THROUGH_PROXY;
    }
    const user = userOfHeaders(headers, settings);
    if ('refusal' in user) throw unauthorized(user.refusal);
    return person(user, {
      signIn: 'proxy',
      hasActions,
      reviews,
      expiresAtMs: undefined,
      endsAtMs: clock.wallMs() + PROXY_STREAM_MS,
      requireSignedIn: () => Promise.resolve(),
    });
  };
}

function unauthorized(reason: string): RequestRefusal {
  return new RequestRefusal(401, 'REQUEST_REFUSED', `401 unauthorized: ${reason}`);
}

const EXPIRED = unauthorized(
  'the API server does not accept this token: it has expired, or is for another cluster or audience',
);
const THROUGH_PROXY = unauthorized('open this page through the proxy that signs people in');

/** Proxies with users of their own need "Authorization" themselves, and API servers remove it. */
function tokenOf({ [TOKEN_HEADER]: own, authorization }: RequestOrigin['headers']): string | undefined {
  return own === undefined ? bearerToken(authorization) : String(own) || undefined;
}

/** Digests of tokens that were accepted once, the newest last. */
class AcceptedTokens {
  readonly #digests = new Set<string>();

  has(token: string): boolean {
    return this.#digests.has(keyOfSecret(token));
  }

  add(token: string): void {
    this.#digests.add(keyOfSecret(token));
    const [oldest] = this.#digests;
    if (this.#digests.size > MAX_ACCEPTED && oldest !== undefined) this.#digests.delete(oldest);
  }

  delete(token: string): void {
    this.#digests.delete(keyOfSecret(token));
  }
}

function addressOf(connection: RequestOrigin['connection']): string {
  return connection.remoteAddress ?? '';
}

interface PersonOptions {
  readonly signIn: 'kubernetes' | 'proxy';
  readonly hasActions: boolean;
  readonly reviews: AccessReviews;
  readonly expiresAtMs: number | undefined;
  readonly endsAtMs: number;
  /** @throws RequestRefusal when the sign-in has ended */
  readonly requireSignedIn: () => Promise<void>;
}

/** A user of the cluster as a client of the API. */
function person(
  user: ReviewedUser,
  { signIn, hasActions, reviews, expiresAtMs, endsAtMs, requireSignedIn }: PersonOptions,
): Requester {
  const { username, groups } = user;
  const expiresAt = expiresAtMs === undefined ? null : isoTime(expiresAtMs);
  return {
    by: `page (${printable(username)})`,
    identity: { signIn, user: username, groups, expiresAt },
    allowsActions: hasActions,
    session: { recheckMs: MAX_AGE_MS, endsAtMs },
    refusalOf: async (verb, module, signal, subresource) => {
      await requireSignedIn();
      signal.throwIfAborted();
      const access = { verb, module, ...(subresource !== undefined && { subresource }) };
      return (await reviews.isAllowed(user, access)) ? undefined : missingRule(username, access);
    },
  };
}

/** Names the rule that a person lacks, and the role of the chart that has it. */
function missingRule(username: string, { verb, module, subresource }: ModuleAccess): string {
  const isRead = verb === 'get' || verb === 'list';
  const role = isRead && subresource === undefined ? 'addon-operator-viewer' : 'addon-operator-operator';
  const resource = subresource === undefined ? 'modules' : `modules/${subresource}`;
  const of = module === undefined ? '' : ` for "${printable(module)}"`;
  return `${printable(username)} lacks the verb "${verb}" on ${resource}.addon-operator.io${of}: bind the ClusterRole ${role} of the chart to this user, or another one with this rule`;
}

/** Names come from tokens, proxies and addresses. */
function printable(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?').slice(0, MAX_NAME);
}
