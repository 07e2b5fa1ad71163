import { type ApiResponse, jsonResponse } from './api-request.ts';
import type { ApiState } from './api-state.ts';
import { storageOf } from './kinds.ts';
import { type ListOptions, listObjects, parseRevision } from './list-objects.ts';
import { byLabels, type ObjectFilter, parseFieldSelector, parseLabelSelector } from './query-selectors.ts';
import { viewList } from './representation.ts';
import { deleteObjects, type ResourceRequest, viewOf } from './resource-handlers.ts';
import { badRequest, forbiddenField, invalid, StatusError } from './status-error.ts';
import { watchObjects } from './watch-objects.ts';

const DEFAULT_WATCH_MS = 3_600_000;

export function isTrue(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)?.toLowerCase();
  return value !== undefined && value !== 'false' && value !== '0';
}

function integer(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (text === '') return 0;
  if (!/^-?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function filterOf({ request: { query }, kind }: ResourceRequest): ObjectFilter {
  const labels = byLabels(parseLabelSelector(query.get('labelSelector') ?? ''));
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', kind);
  return (object) => labels(object) && fields(object);
}

function listOptions(resource: ResourceRequest): ListOptions {
  const { query } = resource.request;
  return {
    namespace: resource.namespace,
    filter: filterOf(resource),
    hasSelector: (query.get('labelSelector') ?? '') !== '' || (query.get('fieldSelector') ?? '') !== '',
    limit: integer(query, 'limit'),
    continueToken: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
  };
}

/** Lists a collection. */
export function handleList(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { objects, meta } = listObjects(state.store, storageOf(resource.kind), listOptions(resource));
  return jsonResponse(200, viewList(objects, meta, viewOf(state, resource)));
}

/** Deletes what a list with the same selectors would show. */
export function handleDeleteCollection(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { objects } = listObjects(state.store, storageOf(resource.kind), listOptions(resource));
  const deleted = deleteObjects(state, resource, objects);
  const meta = { resourceVersion: String(state.store.revision) };
  return jsonResponse(200, viewList(deleted, meta, viewOf(state, resource)));
}

/** Watches a collection. */
export function handleWatch(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind, namespace } = resource;
  const { query } = request;
  const revision = parseRevision(query.get('resourceVersion') ?? '');
  const isStreamingList = streamsInitialEvents(query);
  const view = viewOf(state, resource);
  const timeoutSeconds = integer(query, 'timeoutSeconds');
  const options = {
    storage: storageOf(kind),
    namespace,
    filter: filterOf(resource),
    fromRevision: revision === 0 || isStreamingList ? undefined : revision,
    isStreamingList: isStreamingList && isTrue(query, 'allowWatchBookmarks'),
    hasBookmarks: isTrue(query, 'allowWatchBookmarks'),
    timeoutMs: timeoutSeconds > 0 ? timeoutSeconds * 1000 : DEFAULT_WATCH_MS,
    view,
  };
  return {
    type: 'stream',
    contentType: view.representation === 'object' ? 'application/json' : 'application/json;stream=watch',
    run: (send, signal) => watchObjects(state.store, state.clock, options, send, signal),
  };
}

/** Whether the watch begins with all objects; the parameters that belong to it are checked. */
function streamsInitialEvents(query: URLSearchParams): boolean {
  const wanted = query.get('sendInitialEvents');
  const match = query.get('resourceVersionMatch') ?? '';
  const refuse = (field: string, why: string): StatusError =>
    invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [forbiddenField(field, why)]);
  if (wanted === null) {
    if (match !== '')
      throw refuse(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      );
    return false;
  }
  if (match !== 'NotOlderThan')
    throw refuse(
      'resourceVersionMatch',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
  return wanted === 'true';
}
