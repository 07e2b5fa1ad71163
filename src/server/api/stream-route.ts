/**
 * The route `/stream`: which topics a client wants, whether it may have them, and how long. A client that signed in is
 * checked again while its stream is open, so that a stream ends with the sign-in and with the rule that allowed it.
 */

import type { Clock } from '@addon-operator/base/clock';
import type { RouteResponse, StreamSink } from '@addon-operator/http-server/response';
import type { ServerRequest } from '@addon-operator/http-server/serve';
import { apiError, apiFailure } from './api-response.ts';
import type { ApiParts } from './api-route.ts';
import { RequestRefusal } from './request-refusal.ts';
import { type ModuleAccess, type Requester, requireAccess } from './requester.ts';
import {
  type AnyTopic,
  LINE_TOPICS,
  MAX_STREAMS,
  StreamHub,
  type StreamHubOptions,
  TOPICS,
} from './stream-hub.ts';

const ALL_TOPICS = [...TOPICS, ...LINE_TOPICS];

type StreamRequest = Pick<ServerRequest, 'method' | 'query' | 'lastEventId'>;

/** Follows the operator: the parameter `topics` selects some of them, `run` whose output. */
export function streamRoute(
  parts: ApiParts & Pick<StreamHubOptions, 'redactor'>,
): (request: StreamRequest, requester: Requester, signal: AbortSignal) => Promise<RouteResponse> {
  const { clock } = parts.identity;
  const hub = new StreamHub({ ...parts, clock });
  return async (request, requester, signal) => {
    const wishes = wishesOf(request);
    if ('status' in wishes) return wishes;
    const accesses = accessesOf(wishes);
    try {
      for (const access of accesses) await requireAccess(requester, access, signal);
    } catch (error) {
      return apiFailure(error);
    }
    if (hub.isFull)
      return apiError(
        503,
        'REQUEST_REFUSED',
        `${MAX_STREAMS} clients follow the operator already: end one of them`,
      );
    const serve = (sink: StreamSink, signal: AbortSignal): Promise<void> =>
      hub.serve(sink, { ...wishes, lastEventId: request.lastEventId }, signal);
    return {
      status: 200,
      contentType: 'text/event-stream',
      body: '',
      stream: async (sink, signal) =>
        await whileAllowed({ requester, accesses, clock }, signal, (signal) => serve(sink, signal)),
    };
  };
}

interface Wishes {
  readonly topics: readonly AnyTopic[];
  readonly run: string | undefined;
}

/** The topics that a client wants, or why it gets none. */
function wishesOf({ method, query }: StreamRequest): Wishes | RouteResponse {
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
  return { topics, run };
}

/** Lines of the log and of hooks may show what values show, whatever module they are about. */
function accessesOf({ topics }: Wishes): readonly ModuleAccess[] {
  const lines = topics.some((topic) => LINE_TOPICS.some((line) => line === topic));
  return [
    { verb: 'list', module: undefined },
    ...(lines ? [{ verb: 'get', module: undefined, subresource: 'values' } as const] : []),
  ];
}

interface Permission {
  readonly requester: Requester;
  readonly accesses: readonly ModuleAccess[];
  readonly clock: Clock;
}

/** Runs a stream until it ends by itself, or the client may not read it any more. */
async function whileAllowed(
  permission: Permission,
  signal: AbortSignal,
  serve: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { session } = permission.requester;
  if (session === undefined) return await serve(signal);
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const refused = untilRefused(permission, session, either)
    // It rejects when the stream has ended, and otherwise only if access cannot be decided.
    .catch(() => undefined)
    .finally(() => ended.abort());
  await serve(either);
  ended.abort();
  await refused;
}

/** Resolves when the client may not read any more. Rejects with `signal.reason` on abort. */
async function untilRefused(
  { requester, accesses, clock }: Permission,
  session: NonNullable<Requester['session']>,
  signal: AbortSignal,
): Promise<void> {
  const { recheckMs, endsAtMs } = session;
  while (clock.wallMs() < endsAtMs) {
    await clock.sleep(Math.min(recheckMs, endsAtMs - clock.wallMs()), signal);
    try {
      for (const access of accesses) await requireAccess(requester, access, signal);
    } catch (error) {
      // While the API server does not respond, what was allowed stays so until the sign-in expires: people need the page then.
      if (!(error instanceof RequestRefusal) || error.status < 500) return;
    }
  }
}
