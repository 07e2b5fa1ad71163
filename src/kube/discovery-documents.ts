import { fieldsOf, isObject, textOf, textsOf } from '../lib/json.ts';
import { type ApiResource, apiVersionOf } from './kube-object.ts';

/** One version of a group, with what it serves. */
export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resources: readonly ApiResource[];
}

/** A group and its versions, the preferred one first. */
export interface GroupVersions {
  readonly group: string;
  readonly versions: readonly string[];
}

/** Reads an APIGroupDiscoveryList (aggregated discovery), preferred versions first; undefined for anything else. */
export function readAggregated(document: unknown): readonly GroupVersion[] | undefined {
  if (!isObject(document) || document['kind'] !== 'APIGroupDiscoveryList') return undefined;
  return objects(document['items']).flatMap((item) => {
    const metadata = fieldsOf(item['metadata']);
    const group = textOf(metadata['name']);
    return objects(item['versions']).map((entry) => {
      const version = textOf(entry['version']);
      return { group, version, resources: aggregatedResources(group, version, entry['resources']) };
    });
  });
}

function aggregatedResources(group: string, version: string, list: unknown): readonly ApiResource[] {
  return objects(list)
    .map((entry) => ({
      group,
      version,
      kind: textOf(fieldsOf(entry['responseKind'])['kind']),
      plural: textOf(entry['resource']),
      singular: textOf(entry['singularResource']),
      shortNames: textsOf(entry['shortNames']),
      isNamespaced: entry['scope'] === 'Namespaced',
      verbs: textsOf(entry['verbs']),
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
      kind: textOf(entry['kind']),
      plural: textOf(entry['name']),
      singular: textOf(entry['singularName']),
      shortNames: textsOf(entry['shortNames']),
      isNamespaced: entry['namespaced'] === true,
      verbs: textsOf(entry['verbs']),
    }))
    .filter(isUsable);
}

/** Reads APIVersions (`/api`) or an APIGroupList (`/apis`), the plain documents that list groups. */
export function readGroups(document: unknown): readonly GroupVersions[] {
  if (!isObject(document)) return [];
  if (document['kind'] === 'APIVersions') return [{ group: '', versions: textsOf(document['versions']) }];
  return objects(document['groups']).map((entry) => {
    const preferred = textOf(fieldsOf(entry['preferredVersion'])['version']);
    const versions = objects(entry['versions']).map((version) => textOf(version['version']));
    return {
      group: textOf(entry['name']),
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
 * each resource stands in the preferred version of its group, or in another one that has it.
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
