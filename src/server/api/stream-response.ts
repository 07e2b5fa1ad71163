/** Checks a request for the stream and connects it with the hub. Unknown topics and parameters are refused. */

import type { RouteResponse } from '@addon-operator/http-server/response';
import type { ServerRequest } from '@addon-operator/http-server/serve';
import { apiError } from './api-response.ts';
import { LINE_TOPICS, MAX_STREAMS, type StreamHub, TOPICS } from './stream-hub.ts';

const ALL_TOPICS = [...TOPICS, ...LINE_TOPICS];

/** Follows the operator: the parameter `topics` selects some of them, `run` whose output. */
export function streamResponse(
  hub: StreamHub,
  { method, query, lastEventId }: Pick<ServerRequest, 'method' | 'query' | 'lastEventId'>,
): RouteResponse {
  if (method !== 'GET') return apiError(405, 'REQUEST_INVALID', 'a stream can only be read');
  const unknown = [...query.keys()].find((name) => name !== 'topics' && name !== 'run');
  if (unknown !== undefined) return apiError(400, 'REQUEST_INVALID', `unknown query parameter "${unknown}"`);
  const words = (query.get('topics') ?? TOPICS.join(',')).split(',');
  const topics = ALL_TOPICS.filter((topic) => words.includes(topic));
  const run = query.get('run') ?? undefined;
  if (run !== undefined && !/^\d{1,15}$/.test(run))
    return apiError(400, 'REQUEST_INVALID', '"run" must be the id of a run');
  if (topics.length !== new Set(words).size)
    return apiError(400, 'REQUEST_INVALID', `"topics" must name some of ${ALL_TOPICS.join(',')}`);
  if (hub.isFull)
    return apiError(
      503,
      'REQUEST_REFUSED',
      `${MAX_STREAMS} clients follow the operator already: end one of them`,
    );
  return {
    status: 200,
    contentType: 'text/event-stream',
    body: '',
    stream: (sink, signal) => hub.serve(sink, { topics, lastEventId, run }, signal),
  };
}
