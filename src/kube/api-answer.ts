import { isObject, parseJson } from '../lib/json.ts';
import { KubeApiError } from './kube-client.ts';

/** What an API server answered outside 2xx. */
export interface RefusedAnswer {
  readonly status: number;
  readonly body: string;
  /** Value of the Retry-After header. */
  readonly retryAfter: string | undefined;
}

/** Longest piece of an answer that goes into a message. */
const MAX_MESSAGE_LENGTH = 1_000;

/** The error for a refused request; `title` is its method and path. */
export function refusal(title: string, answer: RefusedAnswer): KubeApiError {
  const { reason, message } = statusOf(answer.body);
  const retryAfterSeconds = secondsOf(answer.retryAfter);
  const kind = reason === '' ? String(answer.status) : `${answer.status} ${reason}`;
  const text = message === '' ? '' : `: ${message.slice(0, MAX_MESSAGE_LENGTH)}`;
  return new KubeApiError(`The API server refused ${title}: ${kind}${text}`, {
    status: answer.status,
    reason,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function statusOf(body: string): { readonly reason: string; readonly message: string } {
  try {
    const status = parseJson(body);
    if (isObject(status) && status['kind'] === 'Status') {
      const { reason, message } = status;
      return {
        reason: typeof reason === 'string' ? reason : '',
        message: typeof message === 'string' ? message : '',
      };
    }
  } catch {
    // Not JSON: a proxy in between, or a path that the server does not know.
  }
  return { reason: '', message: body.trim().split('\n', 1)[0] ?? '' };
}

/** Kubernetes sends whole seconds, never a date. */
function secondsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}
