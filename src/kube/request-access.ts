/** What a request must be allowed to do: one verb on a resource, `deployments` or `deployments/status`. */
export interface RequestAccess {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
}

const RESOURCE =
  /^\/(?:api|apis\/(?<group>[^/]+))\/[^/]+\/(?:namespaces\/\{namespace\}\/)?(?<plural>[^/{]+)(?<name>\/\{name\})?(?:\/(?<subresource>[^/]+))?$/;

const VERBS_OF_METHODS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/**
 * The access that a request needs.
 *
 * @param method HTTP method
 * @param template path without names, as `pathTemplate` makes it; undefined is returned outside the resource API
 */
export function accessOfRequest(method: string, template: string): RequestAccess | undefined {
  const found = RESOURCE.exec(template)?.groups;
  const plural = found?.['plural'];
  if (plural === undefined) return undefined;
  const subresource = found?.['subresource'];
  const reading = found?.['name'] === undefined ? 'list' : 'get';
  return {
    group: found?.['group'] ?? '',
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    verbs: [VERBS_OF_METHODS[method] ?? reading],
  };
}
