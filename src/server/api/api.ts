/**
 * The entry of the HTTP API below `/api/v1`: reads go to `api-handler.ts`, `/stream` to the hub, actions to
 * `action-response.ts`. One instance serves the debug socket and the page of a process. It never rejects: every failure is
 * a response `{"error": {"code", "message"}}`, and secrets are masked in all of them.
 */

import { type RouteResponse, redactedResponse } from '@addon-operator/http-server/response';
import type { ServerRequest } from '@addon-operator/http-server/serve';
import type { Redactor } from '@addon-operator/masking/redactor';
import { type ActionParts, actionResponse } from './action-response.ts';
import { API_PREFIX, apiResponse, READ_PATHS } from './api-handler.ts';
import { apiError } from './api-response.ts';
import type { ApiParts } from './api-route.ts';
import { AuditList } from './audit-list.ts';
import type { Requester } from './requester.ts';
import { DocsIndex } from './search.ts';
import { streamRoute } from './stream-route.ts';

const ACTIONS_PATHS = ['/actions', '/modules/{name}/actions'] as const;
const ACTIONS_PATTERN = new RegExp(`^${API_PREFIX}(?:/modules/(?<name>[^/]+))?/actions$`);

/** Everything the API serves; paths are below the prefix, `{name}` is one part. */
export const API_ROUTES: readonly { readonly method: 'GET' | 'POST'; readonly path: string }[] = [
  ...READ_PATHS.map((path) => ({ method: 'GET', path }) as const),
  { method: 'GET', path: '/stream' },
  ...ACTIONS_PATHS.map((path) => ({ method: 'POST', path }) as const),
];

/**
 * Handles requests below `/api/v1`; the signal aborts when the client goes away. Never rejects.
 *
 * @param requester the client, which decides what it may read and do
 */
export type Api = (
  request: ServerRequest,
  signal: AbortSignal,
  requester: Requester,
) => Promise<RouteResponse>;

export interface CreateApiParts extends Omit<ApiParts, 'audit' | 'hooks'>, ActionParts {
  readonly identity: ApiParts['identity'];
  /** Masks secrets in responses. */
  readonly redactor?: Pick<Redactor, 'json' | 'revision' | 'text'> | undefined;
}

/**
 * The API, one for all servers of a process: they share the streams, so that changes are computed once. The debug socket and
 * the page serve it; what it shows comes through `status/daemon-view.ts`.
 */
export function createApi(parts: CreateApiParts): Api {
  const { redactor } = parts;
  const audit = new AuditList();
  const docs = new DocsIndex();
  const stream = streamRoute(parts);
  const responseTo = async (
    request: ServerRequest,
    signal: AbortSignal,
    requester: Requester,
  ): Promise<RouteResponse> => {
    const { method, path, body } = request;
    if (path === `${API_PREFIX}/stream`) return await stream(request, requester, signal);
    const matched = ACTIONS_PATTERN.exec(path);
    if (matched === null) return await apiResponse({ ...parts, audit, docs }, request, requester, signal);
    if (method !== 'POST') return apiError(405, 'REQUEST_INVALID', 'an action is requested with POST');
    if (!requester.allowsActions) return apiError(403, 'REQUEST_REFUSED', 'actions are switched off here');
    const module = matched.groups?.['name'] ?? '';
    return await actionResponse({ ...parts, audit }, { module, body, requester }, signal);
  };
  return async (request, signal, requester) => {
    const response = await responseTo(request, signal, requester);
    return redactor === undefined ? response : redactedResponse(response, redactor);
  };
}
