import { createHash } from 'node:crypto';
import { acceptsAggregatedDiscovery } from './accept.ts';
import { type ApiRequest, type BodyResponse, jsonResponse } from './api-request.ts';
import type { Fields } from './json-access.ts';
import { apiVersionOf, isNamespace, type ServedKind } from './kinds.ts';

const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

/** `/api`: the core group, aggregated if the client takes that. */
export function coreDiscovery(kinds: readonly ServedKind[], request: ApiRequest): BodyResponse {
  if (acceptsAggregatedDiscovery(request.accept))
    return tagged(request, aggregated(kinds.filter(({ group }) => group === '')), AGGREGATED_TYPE);
  const serverAddressByClientCIDRs: readonly Fields[] = [];
  return tagged(request, { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs });
}

/** `/apis`: all other groups. */
export function groupsDiscovery(kinds: readonly ServedKind[], request: ApiRequest): BodyResponse {
  const grouped = kinds.filter(({ group }) => group !== '');
  if (acceptsAggregatedDiscovery(request.accept))
    return tagged(request, aggregated(grouped), AGGREGATED_TYPE);
  const groups = groupNames(grouped).map((group) => groupFields(grouped, group));
  return tagged(request, { kind: 'APIGroupList', apiVersion: 'v1', groups });
}

/** `/apis/GROUP`. */
export function groupDiscovery(
  kinds: readonly ServedKind[],
  group: string,
  request: ApiRequest,
): BodyResponse {
  return tagged(request, { kind: 'APIGroup', apiVersion: 'v1', ...groupFields(kinds, group) });
}

/** `/api/v1`, `/apis/GROUP/VERSION`. */
export function versionDiscovery(
  kinds: readonly ServedKind[],
  group: string,
  version: string,
  request: ApiRequest,
): BodyResponse {
  const served = kinds.filter((kind) => kind.group === group && kind.version === version);
  return tagged(request, {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: served.flatMap(resourceEntries),
  });
}

/** A response with an entity tag; 304 without body when the client has it already. */
export function tagged(request: ApiRequest, body: Fields, contentType = 'application/json'): BodyResponse {
  const response = jsonResponse(200, body, { contentType });
  const etag = `"${createHash('sha256').update(response.text).digest('hex').toUpperCase()}"`;
  const headers = { ETag: etag, Vary: 'Accept' };
  if (request.ifNoneMatch === etag) return { ...response, status: 304, text: '', headers };
  return { ...response, headers };
}

function groupNames(kinds: readonly ServedKind[]): readonly string[] {
  return [...new Set(kinds.map(({ group }) => group))];
}

function versionNames(kinds: readonly ServedKind[], group: string): readonly string[] {
  return [...new Set(kinds.filter((kind) => kind.group === group).map(({ version }) => version))];
}

function groupFields(kinds: readonly ServedKind[], group: string): Fields {
  const versions = versionNames(kinds, group).map((version) => ({
    groupVersion: apiVersionOf({ group, version }),
    version,
  }));
  return { name: group, versions, preferredVersion: versions[0] };
}

function aggregated(kinds: readonly ServedKind[]): Fields {
  const items = groupNames(kinds).map((group) => ({
    metadata: { name: group },
    versions: versionNames(kinds, group).map((version) => ({
      version,
      resources: kinds
        .filter((kind) => kind.group === group && kind.version === version)
        .map(aggregatedResource),
      freshness: 'Current',
    })),
  }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

interface Subresource {
  readonly name: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
}

/** Subresources of a kind, in the order of discovery. */
function subresourcesOf(kind: ServedKind): readonly Subresource[] {
  if (kind.isReview) return [];
  const own = { group: kind.group, version: kind.version, kind: kind.kind };
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  return [
    ...(isNamespace(kind) ? [{ name: 'finalize', kind: own, verbs: ['update'] }] : []),
    ...(kind.hasScale ? [{ name: 'scale', kind: scale, verbs: SUBRESOURCE_VERBS }] : []),
    ...(kind.hasStatus ? [{ name: 'status', kind: own, verbs: SUBRESOURCE_VERBS }] : []),
  ];
}

function aggregatedResource(kind: ServedKind): Fields {
  const subresources = subresourcesOf(kind).map((subresource) => ({
    subresource: subresource.name,
    responseKind: subresource.kind,
    verbs: subresource.verbs,
  }));
  return {
    resource: kind.plural,
    responseKind: { group: kind.group, version: kind.version, kind: kind.kind },
    scope: kind.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
    ...(kind.categories.length > 0 ? { categories: kind.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

function resourceEntries(kind: ServedKind): readonly Fields[] {
  const own = {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.isNamespaced,
    kind: kind.kind,
    verbs: kind.verbs,
    ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
    ...(kind.categories.length > 0 ? { categories: kind.categories } : {}),
  };
  const subresources = subresourcesOf(kind).map((subresource) => ({
    name: `${kind.plural}/${subresource.name}`,
    singularName: '',
    namespaced: kind.isNamespaced,
    ...(subresource.kind.group === kind.group
      ? {}
      : { group: subresource.kind.group, version: subresource.kind.version }),
    kind: subresource.kind.kind,
    verbs: subresource.verbs,
  }));
  return [own, ...subresources];
}
