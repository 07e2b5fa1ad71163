import type { Redactor } from '@addon-operator/base/redactor';
import { type Answer, redactedAnswer } from '../answer.ts';
import type { ServerRequest } from '../serve.ts';
import { API_PREFIX, type ApiParts, apiAnswer } from './api-handler.ts';
import { streamAnswer } from './stream-answer.ts';
import { StreamHub } from './stream-hub.ts';

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
