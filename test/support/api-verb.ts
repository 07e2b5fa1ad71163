export type ApiVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'other';

/** Collections start behind these parts of a path; what is not under them is no resource. */
const RESOURCE_PATH = /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(.+)$/;

/** What a request does, in the words of the Kubernetes API. Discovery and the like are `get`. */
export function apiVerb(method: string, path: string, query: URLSearchParams): ApiVerb {
  const isCollection = addressesCollection(path);
  switch (method) {
    case 'GET':
      if (!isCollection) return 'get';
      return ['1', 'true'].includes(query.get('watch') ?? '') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isCollection ? 'deletecollection' : 'delete';
    default:
      return 'other';
  }
}

function addressesCollection(path: string): boolean {
  const parts = RESOURCE_PATH.exec(path)?.[1]?.split('/') ?? [];
  const isInNamespace = parts[0] === 'namespaces' && parts.length > 2;
  return (isInNamespace ? parts.slice(2) : parts).length === 1;
}
