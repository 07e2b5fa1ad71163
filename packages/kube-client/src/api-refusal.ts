// Turns a response outside 2xx into a KubeApiError whose message says what to do. The API server explains
// itself in a Status object; a proxy in front of it answers with anything, so nothing in the body is relied
// on.

import { isObject, parseJson, stringOf } from '@addon-operator/json';
import { type ApiCause, KubeApiError } from './kube-client.ts';
import { retryAfterLimitSeconds } from './retry.ts';

/** The wording of RBAC. Quotas, policies and webhooks refuse with 403 too, in other words. */
const DENIED = /forbidden: User "/;
/** Messages of clients for a 403 without a reason, for example from a proxy in front of the API server. */
const BARE = /\b403 Forbidden\b|\bForbidden \((?:get|list|watch|post|put|patch|delete) |\bstatus code 403\b/;

const PERMISSION_ADVICE =
  "The operator's account lacks this permission: add it to its role; `addon-operator rbac` prints what modules need.";

/** Advice for an error message that reports a missing permission; undefined for other errors. */
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
  const details = message === '' ? '' : `: ${message.slice(0, MAX_MESSAGE_LENGTH)}`;
  const pause = pauseNote({ status: response.status, reason, retryAfterSeconds });
  const summary = `The API server refused ${title}: ${kind}${details}${pause}`;
  const advice = response.status === FORBIDDEN ? adviceFor(message) : undefined;
  return new KubeApiError(advice === undefined ? summary : `${summary} (${advice})`, {
    status: response.status,
    reason,
    causes,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** A note for the message if the server requested a longer pause than will be kept. */
function pauseNote(refused: Pick<KubeApiError, 'status' | 'reason' | 'retryAfterSeconds'>): string {
  const limit = retryAfterLimitSeconds(refused);
  const { retryAfterSeconds: seconds = 0 } = refused;
  return seconds > limit ? ` (Retry-After: ${seconds} s, at most ${limit} s of it are kept)` : '';
}

/** A refusal without a message comes from no quota and no policy: those explain themselves. */
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
