/** What a request must be allowed to do: one verb on a resource, `deployments` or `deployments/status`. */
export interface RequestAccess {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  /** Where it must be allowed; absent for all namespaces, and for what is in none. */
  readonly namespace?: string;
}

const RESOURCE =
  /^\/(?:api|apis\/(?<group>[^/]+))\/[^/]+\/(?:namespaces\/\{namespace\}\/)?(?<plural>[^/{]+)(?<name>\/\{name\})?(?:\/(?<subresource>[^/]+))?$/;

const VERBS_OF_METHODS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The namespace of a path whose template has one. */
const NAMESPACE = /\/namespaces\/([^/]+)\//;

/**
 * The access that a request needs.
 *
 * @param method HTTP method
 * @param path without query; undefined is returned outside the resource API
 */
export function accessOfRequest(method: string, path: string): RequestAccess | undefined {
  const template = pathTemplate(path);
  const found = RESOURCE.exec(template)?.groups;
  const plural = found?.['plural'];
  if (plural === undefined) return undefined;
  const subresource = found?.['subresource'];
  const reading = found?.['name'] === undefined ? 'list' : 'get';
  const namespace = template.includes('/{namespace}/') ? NAMESPACE.exec(path)?.[1] : undefined;
  return {
    group: found?.['group'] ?? '',
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    verbs: [VERBS_OF_METHODS[method] ?? reading],
    ...(namespace !== undefined && { namespace: decodeURIComponent(namespace) }),
  };
}

/** Words in the position where other paths have a name. */
const API_ROOT = /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)(?=\/|$)/;

/**
 * The path of a request with the names taken out, fit for a metric label:
 * `/api/v1/namespaces/{namespace}/pods/{name}/log`. Paths outside the resource API keep their first part only.
 */
export function pathTemplate(path: string): string {
  const root = API_ROOT.exec(path)?.[0];
  if (root === undefined) return `/${path.split('/')[1] ?? ''}`;
  const parts = path.slice(root.length + 1).split('/');
  const template: string[] = [root];
  // `namespaces/x` alone is a namespace object; with a resource behind it, a scope.
  if (parts[0] === 'namespaces' && parts.length > 2 && !isNamespaceSubresource(parts[2])) {
    template.push('namespaces', '{namespace}');
    parts.splice(0, 2);
  }
  const [plural, name, ...subresource] = parts;
  if (plural !== undefined && plural !== '') template.push(plural);
  if (name !== undefined) template.push('{name}', ...subresource.slice(0, 1));
  return template.join('/');
}

function isNamespaceSubresource(part: string | undefined): boolean {
  return part === 'status' || part === 'finalize';
}
