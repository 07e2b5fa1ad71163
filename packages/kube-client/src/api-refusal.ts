import { isObject, parseJson, stringOf } from '@addon-operator/json';
import { type ApiCause, KubeApiError } from './kube-client.ts';
import { retryAfterLimitSeconds } from './retry.ts';

/** How the API server says that no role allows something. Quotas, policies and webhooks use other words. */
const DENIED = /forbidden: User "/;
/** What clients make of a response without a reason, for example from a proxy in front of the API server. */
const BARE = /\b403 Forbidden\b|\bForbidden \((?:get|list|watch|post|put|patch|delete) |\bstatus code 403\b/;

const PERMISSION_ADVICE =
  "The operator's account lacks this permission: add it to its role; `addon-operator rbac` prints what modules need.";

/** What to do when a text says that the account may not do something; undefined for other errors. */
export function permissionAdvice(error: string): string | undefined {
  return DENIED.test(error) || BARE.test(error) ? PERMISSION_ADVICE : undefined;
}

/** A response of an API server outside 2xx. */
interface RefusedResponse {
  readonly status: number;
  readonly body: string;
  /** Value of the Retry-After header. */
  readonly retryAfter: string | undefined;
}

const FORBIDDEN = 403;
/** Longest part of a response in a message. */
const MAX_MESSAGE_LENGTH = 1_000;

/** The error for a refused request; `title` is its method and path. */
export function refusal(title: string, response: RefusedResponse): KubeApiError {
  const { reason, message, causes } = statusOf(response.body);
  const retryAfterSeconds = secondsOf(response.retryAfter);
  const kind = reason === '' ? String(response.status) : `${response.status} ${reason}`;
  const text = message === '' ? '' : `: ${message.slice(0, MAX_MESSAGE_LENGTH)}`;
  const pause = pauseText({ status: response.status, reason, retryAfterSeconds });
  const summary = `The API server refused ${title}: ${kind}${text}${pause}`;
  const advice = response.status === FORBIDDEN ? adviceFor(message) : undefined;
  return new KubeApiError(advice === undefined ? summary : `${summary} (${advice})`, {
    status: response.status,
    reason,
    causes,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** Who reads the error should know that a longer pause was requested. */
function pauseText(refused: Pick<KubeApiError, 'status' | 'reason' | 'retryAfterSeconds'>): string {
  const limit = retryAfterLimitSeconds(refused);
  const { retryAfterSeconds: seconds = 0 } = refused;
  return seconds > limit ? ` (Retry-After: ${seconds} s, at most ${limit} s of it are kept)` : '';
}

/** Who refuses without a word is no quota and no policy. */
function adviceFor(message: string): string | undefined {
  return message === '' ? PERMISSION_ADVICE : permissionAdvice(message);
}

interface StatusFacts {
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly ApiCause[];
}

function statusOf(body: string): StatusFacts {
  try {
    const status = parseJson(body);
    if (isObject(status) && status['kind'] === 'Status') {
      const { reason, message, details } = status;
      return { reason: stringOf(reason), message: stringOf(message), causes: causesOf(details) };
    }
  } catch {
    // Not JSON: a proxy in between, or a path that the server does not know.
  }
  return { reason: '', message: body.trim().split('\n', 1)[0] ?? '', causes: [] };
}

function causesOf(details: unknown): readonly ApiCause[] {
  const causes = isObject(details) && Array.isArray(details['causes']) ? details['causes'] : [];
  return causes.filter(isObject).map(({ reason, field, message }) => ({
    reason: stringOf(reason),
    field: stringOf(field),
    message: stringOf(message),
  }));
}

/** Kubernetes sends whole seconds, never a date. */
function secondsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : undefined;
}
