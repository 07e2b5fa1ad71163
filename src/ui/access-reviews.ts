/**
 * What the API server says about people who use the page: whose token it is (TokenReview), and what its user may do with
 * `modules.addon-operator.io` (SubjectAccessReview). Results are used for at most 10 seconds, refusals too. If the API server
 * does not respond, nothing is allowed, and the refusal says that the sign-in is not the reason.
 */

import { createHash } from 'node:crypto';
import type { Clock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { TokenBucket } from '@addon-operator/concurrency/token-bucket';
import { fieldsOf, isObject, parseJson } from '@addon-operator/json';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { RequestRefusal } from '../server/api/request-refusal.ts';
import type { ModuleAccess } from '../server/api/requester.ts';
import { ReviewCache } from './review-cache.ts';

/** A user as the API server knows it; what it says besides the name is passed on to access reviews. */
export interface ReviewedUser {
  /** Never empty. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The holder of a token. */
export interface TokenHolder {
  readonly user: ReviewedUser;
  /** On the wall clock; undefined for a token that does not say it. */
  readonly expiresAtMs: number | undefined;
}

/** Longest use of a result. */
export const MAX_AGE_MS = 10_000;
const MAX_TOKENS = 1_000;
const MAX_DECISIONS = 5_000;
/** Requests to the API server, whatever clients do. */
const REVIEWS_PER_SECOND = 50;
const REVIEWS_AT_ONCE = 200;
const TIMEOUT_MS = 5_000;

export interface AccessReviewsOptions {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly clock: Clock;
  /** Audiences of which a token must have one; empty: those of the API server. */
  readonly audiences: readonly string[];
}

/** Reviews of tokens and accesses by the API server. */
export class AccessReviews {
  readonly #options: AccessReviewsOptions;
  readonly #tokens: ReviewCache<TokenHolder | undefined>;
  readonly #decisions: ReviewCache<boolean>;
  readonly #limiter: TokenBucket;

  constructor(options: AccessReviewsOptions) {
    const { clock } = options;
    this.#options = options;
    this.#tokens = new ReviewCache(clock, MAX_TOKENS);
    this.#decisions = new ReviewCache(clock, MAX_DECISIONS);
    this.#limiter = new TokenBucket(
      { intervalMs: 1_000 / REVIEWS_PER_SECOND, burst: REVIEWS_AT_ONCE },
      clock,
    );
  }

  /**
   * Whose token this is; undefined if the API server does not accept it, or names no user.
   *
   * @throws RequestRefusal 503 when the API server cannot say it
   */
  async holderOf(token: string): Promise<TokenHolder | undefined> {
    return await this.#tokens.get(keyOfSecret(token), async () => {
      const { audiences, clock } = this.#options;
      const spec = { token, ...(audiences.length > 0 && { audiences }) };
      const status = await this.#review('authentication.k8s.io/v1', 'TokenReview', spec);
      const user = acceptedUser(status, audiences);
      if (user === undefined) return { value: undefined, ttlMs: MAX_AGE_MS };
      const expiresAtMs = expiryOf(token);
      const leftMs = (expiresAtMs ?? Number.POSITIVE_INFINITY) - clock.wallMs();
      return { value: { user, expiresAtMs }, ttlMs: Math.min(MAX_AGE_MS, leftMs) };
    });
  }

  /** Whether a user has an access. @throws RequestRefusal 503 when the API server cannot say it */
  async isAllowed({ username, ...rest }: ReviewedUser, access: ModuleAccess): Promise<boolean> {
    const { verb, module: name = '', subresource = '' } = access;
    const key = JSON.stringify([username, rest, verb, name, subresource]);
    return await this.#decisions.get(keyOfSecret(key), async () => {
      const resourceAttributes = { group: 'addon-operator.io', resource: 'modules', subresource, verb, name };
      const spec = { user: username, ...rest, resourceAttributes };
      const status = await this.#review('authorization.k8s.io/v1', 'SubjectAccessReview', spec);
      return { value: status['allowed'] === true && status['denied'] !== true, ttlMs: MAX_AGE_MS };
    });
  }

  async #review(
    apiVersion: string,
    kind: 'TokenReview' | 'SubjectAccessReview',
    spec: object,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (!this.#limiter.tryTake()) throw unavailable('too many access reviews at once: try again in a moment');
    const resource = `${kind.toLowerCase()}s`;
    const path = `/apis/${apiVersion}/${resource}`;
    // It is shared by all requests that wait for it, so none of them can abort it.
    const { signal } = new AbortController();
    try {
      const review = await this.#options.kube.request(
        { method: 'POST', path, body: { apiVersion, kind, spec }, timeoutMs: TIMEOUT_MS },
        signal,
      );
      return fieldsOf(fieldsOf(review)['status']);
    } catch (error) {
      if (hasStatus(error, 403))
        throw unavailable(
          `the operator may not create ${resource}: the chart allows it with ui.auth, see docs/ui.md#sign-in-with-kubernetes`,
        );
      throw unavailable(
        `the API server cannot check who may see this: your sign-in is not refused, try again (${messageOf(error)})`,
      );
    }
  }
}

function unavailable(message: string): RequestRefusal {
  return new RequestRefusal(503, 'REQUEST_REFUSED', message);
}

/** A key for a secret, which is not kept itself. */
export function keyOfSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}

/** The user of a review whose token is accepted, for one of the audiences if there are any. */
function acceptedUser(
  status: Readonly<Record<string, unknown>>,
  audiences: readonly string[],
): ReviewedUser | undefined {
  const { username, groups, uid, extra } = fieldsOf(status['user']);
  if (status['authenticated'] !== true || typeof username !== 'string' || username === '') return undefined;
  // An authenticator that knows no audiences returns none: its tokens are not for us.
  const granted = stringsOf(status['audiences']);
  if (audiences.length > 0 && !audiences.some((audience) => granted.includes(audience))) return undefined;
  return {
    username,
    groups: stringsOf(groups),
    ...(typeof uid === 'string' && { uid }),
    ...(isObject(extra) && { extra }),
  };
}

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The claim `exp` of a JSON web token. It only shortens what the API server has accepted, so its signature is not checked. */
function expiryOf(token: string): number | undefined {
  try {
    const payload = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const { exp } = fieldsOf(payload);
    return typeof exp === 'number' ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
