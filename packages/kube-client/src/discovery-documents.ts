// Pure functions on discovery documents: the three formats of the API server become one list of groups,
// versions and resources, and names that users write are looked up in it. Effects are in `discovery.ts`.

import { fieldsOf, isObject, stringOf, stringsOf } from '@addon-operator/json';
import { type ApiResource, apiVersionOf } from './kube-object.ts';

/** One version of a group, with its resources. */
export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resources: readonly ApiResource[];
  /** The server of this aggregated API is away, so its current resources are unknown. Default false. */
  readonly isStale?: boolean;
}

/** A group and its versions, the preferred one first. */
interface GroupVersions {
  readonly group: string;
  readonly versions: readonly string[];
}

/** Reads an APIGroupDiscoveryList (aggregated discovery), preferred versions first; undefined for anything else. */
export function readAggregated(document: unknown): readonly GroupVersion[] | undefined {
  if (!isObject(document) || document['kind'] !== 'APIGroupDiscoveryList') return undefined;
  return objects(document['items']).flatMap((item) => {
    const metadata = fieldsOf(item['metadata']);
    const group = stringOf(metadata['name']);
    return objects(item['versions']).map((entry) => {
      const version = stringOf(entry['version']);
      const resources = aggregatedResources(group, version, entry['resources']);
      return { group, version, resources, ...(entry['freshness'] === 'Stale' && { isStale: true }) };
    });
  });
}

/** The resources of one version; entries without a kind or verbs are left out. */
function aggregatedResources(group: string, version: string, list: unknown): readonly ApiResource[] {
  return objects(list)
    .map((entry) => ({
      group,
      version,
      kind: stringOf(fieldsOf(entry['responseKind'])['kind']),
      plural: stringOf(entry['resource']),
      singular: stringOf(entry['singularResource']),
      shortNames: stringsOf(entry['shortNames']),
      isNamespaced: entry['scope'] === 'Namespaced',
      verbs: stringsOf(entry['verbs']),
    }))
    .filter(isUsable);
}

/** Reads an APIResourceList, the plain discovery document of one group and version. */
export function readResourceList(group: string, version: string, document: unknown): readonly ApiResource[] {
  const list = isObject(document) ? document['resources'] : undefined;
  return objects(list)
    .map((entry) => ({
      group,
      version,
      kind: stringOf(entry['kind']),
      plural: stringOf(entry['name']),
      singular: stringOf(entry['singularName']),
      shortNames: stringsOf(entry['shortNames']),
      isNamespaced: entry['namespaced'] === true,
      verbs: stringsOf(entry['verbs']),
    }))
    .filter(isUsable);
}

/** Reads APIVersions (`/api`) or an APIGroupList (`/apis`), the plain documents that list groups; undefined for anything else. */
export function readGroups(document: unknown): readonly GroupVersions[] | undefined {
  if (!isObject(document)) return undefined;
  const { kind } = document;
  if (kind !== 'APIVersions' && kind !== 'APIGroupList') return undefined;
  if (kind === 'APIVersions') return [{ group: '', versions: stringsOf(document['versions']) }];
  return objects(document['groups']).map((entry) => {
    const preferred = stringOf(fieldsOf(entry['preferredVersion'])['version']);
    const versions = objects(entry['versions']).map((version) => stringOf(version['version']));
    return {
      group: stringOf(entry['name']),
      versions: versions.toSorted((a, b) => Number(b === preferred) - Number(a === preferred)),
    };
  });
}

/** Not a subresource (`pods/log`), and something can be done with it. */
function isUsable(resource: ApiResource): boolean {
  return (
    resource.kind !== '' &&
    resource.plural !== '' &&
    !resource.plural.includes('/') &&
    resource.verbs.length > 0
  );
}

/**
 * The resource that a user means, or undefined. Kind, plural name and short names count alike, in any case, the
 * first match in the order of the server wins; singular names count when nothing else matches. Without `apiVersion`
 * each resource is in the preferred version of its group, or in another one that has it.
 */
export function findResource(
  groupVersions: readonly GroupVersion[],
  apiVersion: string | undefined,
  kind: string,
): ApiResource | undefined {
  if (kind === '') return undefined;
  const candidates =
    apiVersion === undefined || apiVersion === ''
      ? preferredResources(groupVersions)
      : groupVersions
          .filter((entry) => apiVersionOf(entry) === apiVersion)
          .flatMap((entry) => entry.resources);
  const wanted = kind.toLowerCase();
  return (
    candidates.find((resource) =>
      [resource.kind, resource.plural, ...resource.shortNames].some((name) => name.toLowerCase() === wanted),
    ) ?? candidates.find((resource) => resource.singular.toLowerCase() === wanted)
  );
}

/**
 * A kind under the version to be used now: that of `known` if it is still served, else the first served version of its
 * group in the order of the server. Undefined when the group has no such kind.
 */
export function servedResource(
  groupVersions: readonly GroupVersion[],
  known: Pick<ApiResource, 'group' | 'version' | 'kind'>,
): ApiResource | undefined {
  const served = groupVersions
    .filter(({ group }) => group === known.group)
    .flatMap(({ resources }) => resources.filter(({ kind }) => kind === known.kind));
  return served.find(({ version }) => version === known.version) ?? served[0];
}

/**
 * All served resources, when a kind (in any case) is not among those of its group. Undefined when it is served, or when
 * that is uncertain because the server of its group is not available.
 */
export function resourcesWithoutKind(
  groupVersions: readonly GroupVersion[],
  { group, kind }: Pick<ApiResource, 'group' | 'kind'>,
): readonly ApiResource[] | undefined {
  const wanted = kind.toLowerCase();
  const isPossible = groupVersions.some(
    (entry) =>
      entry.group === group &&
      (entry.isStale === true || entry.resources.some((resource) => resource.kind.toLowerCase() === wanted)),
  );
  return isPossible ? undefined : preferredResources(groupVersions);
}

/** Each resource in the first version that has it, in the order of the server. */
function preferredResources(groupVersions: readonly GroupVersion[]): readonly ApiResource[] {
  const byName = new Map<string, ApiResource>();
  for (const resource of groupVersions.flatMap((entry) => entry.resources)) {
    const name = `${resource.group}/${resource.plural}`;
    if (!byName.has(name)) byName.set(name, resource);
  }
  return [...byName.values()];
}

function objects(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
