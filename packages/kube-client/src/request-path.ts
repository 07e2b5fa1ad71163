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
