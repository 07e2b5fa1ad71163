import { type ApiRequest, type ApiResponse, jsonResponse, textResponse } from './api-request.ts';
import type { ApiState } from './api-state.ts';
import { handleDeleteCollection, handleList, handleWatch, isTrue } from './collection-handlers.ts';
import {
  coreDiscovery,
  groupDiscovery,
  groupsDiscovery,
  tagged,
  versionDiscovery,
} from './discovery-handlers.ts';
import { isNamespace, type ServedKind, storageOf, type Verb } from './kinds.ts';
import { emptySwagger, openApiDocument, openApiIndex } from './openapi.ts';
import {
  handleCreate,
  handleDelete,
  handleFinalize,
  handleGet,
  handlePatch,
  handleUpdate,
  type ResourceRequest,
} from './resource-handlers.ts';
import { decodeSegments, parseResourcePath } from './resource-path.ts';
import { methodNotAllowed, notFound, notImplemented, StatusError, unknownResource } from './status-error.ts';

/** Response of `/version`; clients parse `gitVersion`. */
const VERSION = {
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.2+sandbox',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: `${process.platform}/${process.arch}`,
};

/**
 * Handles one request: finds the kind and the verb that its path and method name, and calls the handler. The HTTP server and
 * clients in the same process call this. It is synchronous, so nothing happens between the checks of a write and its
 * commit; only a watch returns a stream, which goes on. Refusals are responses too; only a defect throws.
 */
export function handleRequest(state: ApiState, request: ApiRequest): ApiResponse {
  try {
    return route(state, request);
  } catch (error) {
    if (error instanceof StatusError) return jsonResponse(error.status.code, error.status);
    throw error;
  }
}

function route(state: ApiState, request: ApiRequest): ApiResponse {
  const segments = decodeSegments(request.path) ?? [];
  const [root = '', group, version] = segments;
  switch (root) {
    case 'healthz':
    case 'livez':
    case 'readyz':
      return textResponse(200, 'ok');
    case 'version':
      return jsonResponse(200, VERSION);
    case 'openapi':
      return openApi(state, request, segments);
    case 'api':
      if (group === undefined) return coreDiscovery(state.kinds.kinds, request);
      if (segments.length === 2) return versions(state, request, '', group);
      return resourceRequest(state, request);
    case 'apis':
      if (group === undefined) return groupsDiscovery(state.kinds.kinds, request);
      if (!state.kinds.hasGroup(group)) return textResponse(404, '404 page not found\n');
      if (version === undefined) return groupDiscovery(state.kinds.kinds, group, request);
      if (segments.length === 3) return versions(state, request, group, version);
      return resourceRequest(state, request);
    default:
      return textResponse(404, '404 page not found\n');
  }
}

function versions(state: ApiState, request: ApiRequest, group: string, version: string): ApiResponse {
  if (!state.kinds.hasGroup(group, version)) throw unknownResource();
  return versionDiscovery(state.kinds.kinds, group, version, request);
}

function openApi(state: ApiState, request: ApiRequest, segments: readonly string[]): ApiResponse {
  const [, format, root, first, second] = segments;
  const { kinds } = state.kinds;
  if (format === 'v2' && root === undefined) return emptySwagger(request.accept);
  if (format !== 'v3') throw unknownResource();
  if (root === undefined) return tagged(request, openApiIndex(kinds));
  const [group, version] = root === 'api' ? ['', first] : [first ?? '', second];
  if (version === undefined || !state.kinds.hasGroup(group, version)) throw unknownResource();
  return tagged(request, openApiDocument(kinds, group, version));
}

function resourceRequest(state: ApiState, request: ApiRequest): ApiResponse {
  const path = parseResourcePath(request.path);
  const kind = path === undefined ? undefined : state.kinds.find(path.group, path.version, path.plural);
  if (path === undefined || kind === undefined) throw unknownResource();
  const { name = '', subresource = '' } = path;
  const resource: ResourceRequest = { request, kind, namespace: path.namespace, name, subresource };
  if (kind.isNamespaced ? path.namespace === undefined && name !== '' : path.namespace !== undefined)
    throw unknownResource();
  if (subresource !== '') return subresourceResponse(state, resource);
  return name === '' ? collectionResponse(state, resource) : singleResponse(state, resource);
}

function requireVerb(kind: ServedKind, verb: Verb): void {
  if (!kind.verbs.includes(verb)) throw methodNotAllowed();
}

function singleResponse(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind } = resource;
  switch (request.method) {
    case 'GET':
      requireVerb(kind, 'get');
      return handleGet(state, resource);
    case 'PUT':
      requireVerb(kind, 'update');
      return handleUpdate(state, resource);
    case 'PATCH':
      requireVerb(kind, 'patch');
      return handlePatch(state, resource);
    case 'DELETE':
      requireVerb(kind, 'delete');
      return handleDelete(state, resource);
    default:
      throw methodNotAllowed();
  }
}

function collectionResponse(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind, namespace } = resource;
  switch (request.method) {
    case 'GET':
      requireVerb(kind, 'list');
      return isTrue(request.query, 'watch') ? handleWatch(state, resource) : handleList(state, resource);
    case 'POST':
      if (kind.isNamespaced && namespace === undefined) throw methodNotAllowed();
      requireVerb(kind, 'create');
      return handleCreate(state, resource);
    case 'DELETE':
      if (kind.isNamespaced && namespace === undefined) throw methodNotAllowed();
      requireVerb(kind, 'deletecollection');
      return handleDeleteCollection(state, resource);
    default:
      throw methodNotAllowed();
  }
}

/** Subresources that need a node to answer. */
const NODE_SUBRESOURCES = ['attach', 'exec', 'log', 'portforward', 'proxy'];

function subresourceResponse(state: ApiState, resource: ResourceRequest): ApiResponse {
  const { request, kind, namespace, name, subresource } = resource;
  if (kind.group === '' && NODE_SUBRESOURCES.includes(subresource)) {
    const key = `${namespace ?? ''}/${name}`;
    if (state.store.get(storageOf(kind), key) === undefined) throw notFound(kind, name);
    throw notImplemented(`${kind.plural}/${subresource}`);
  }
  if (subresource === 'finalize' && isNamespace(kind) && request.method === 'PUT')
    return handleFinalize(state, resource);
  const isServed = (subresource === 'status' && kind.hasStatus) || (subresource === 'scale' && kind.hasScale);
  if (!isServed || kind.isReview) throw unknownResource();
  if (request.method === 'DELETE') throw methodNotAllowed();
  return singleResponse(state, resource);
}
