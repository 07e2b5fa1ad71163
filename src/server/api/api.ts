import type { Redactor } from '@addon-operator/base/redactor';
import { type Answer, redactedAnswer } from '../answer.ts';
import type { ServerRequest } from '../serve.ts';
import { API_PREFIX, apiAnswer, READ_PATHS } from './api-handler.ts';
import type { ApiParts } from './api-route.ts';
import { streamAnswer } from './stream-answer.ts';
import { StreamHub } from './stream-hub.ts';

/** Everything the API answers; paths are below the prefix, `{name}` stands for one part. */
export const API_ROUTES: readonly { readonly method: 'GET' | 'POST'; readonly path: string }[] = [
  ...READ_PATHS.map((path) => ({ method: 'GET', path }) as const),
  { method: 'GET', path: '/stream' },
];

/** Answers requests below `/api/v1`; the signal aborts when the client goes away. Never rejects. */
export type Api = (
  request: Pick<ServerRequest, 'method' | 'path' | 'query' | 'lastEventId'>,
  signal: AbortSignal,
) => Promise<Answer>;

export interface CreateApiParts extends ApiParts {
  /** Masks secrets in responses. */
  readonly redactor?: Pick<Redactor, 'data' | 'text'> | undefined;
}

/** The API, one for all servers of a process: they share the streams, so that changes are computed once. */
export function createApi(parts: CreateApiParts): Api {
  const { redactor } = parts;
  const hub = new StreamHub({ ...parts, clock: parts.identity.clock });
  return async (request, signal) => {
    const answer =
      request.path === `${API_PREFIX}/stream`
        ? streamAnswer(hub, request)
        : await apiAnswer(parts, request, signal);
    return redactor === undefined ? answer : redactedAnswer(answer, redactor);
  };
}
