import { KubeApiError } from '../../kube/kube-client.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import type { OperatorError } from '../../lib/errors.ts';

/** What the API server meant by an error of which only the text is left. */
export interface FailureCause {
  /** The word the API server has for it; `Unknown` when the text tells nothing. */
  readonly reason: string;
  /** The HTTP status that goes with it; null when the server gave none. */
  readonly status: number | null;
}

const UNKNOWN: FailureCause = { reason: 'Unknown', status: null };

/**
 * How errors of the API server and of its clients read, the more telling ones first
 * (https://github.com/kubernetes/apimachinery/blob/master/pkg/api/errors/errors.go).
 */
const CAUSES: readonly (readonly [RegExp, string, number | null])[] = [
  [
    /objects of its chart belong to another release|others have set fields that its chart sets/,
    'Conflict',
    409,
  ],
  [/Apply failed with \d+ conflicts?:|conflict occurred while applying/, 'Conflict', 409],
  [/Operation cannot be fulfilled on |the object has been modified/, 'Conflict', 409],
  [/failed calling webhook |Internal error occurred: |an error on the server \(/i, 'InternalError', 500],
  [/etcdserver: /, 'InternalError', 500],
  [/the server is currently unable to handle the request/, 'ServiceUnavailable', 503],
  [/too many requests|exceeded its rate limit/i, 'TooManyRequests', 429],
  [
    /the server was unable to return a response in the time allotted|request did not complete within/i,
    'Timeout',
    504,
  ],
  [
    /connection refused|connection reset|i\/o timeout|no such host|TLS handshake|dial tcp|unexpected EOF|cluster unreachable|context deadline exceeded|network is unreachable/i,
    'Unreachable',
    null,
  ],
  [/ already exists\b/, 'AlreadyExists', 409],
  [/exceeded quota: |is forbidden: /, 'Forbidden', 403],
  [/\bis invalid: |field is immutable/, 'Invalid', 422],
  [
    /admission webhook "[^"]*" denied the request|strict decoding error|cannot be handled as an? /,
    'BadRequest',
    400,
  ],
  [/no matches for kind |could not find the requested resource/, 'NotFound', 404],
  [/Request entity too large|etcd: request is too large/i, 'RequestEntityTooLarge', 413],
  [/you must be logged in|\bUnauthorized\b/, 'Unauthorized', 401],
  [/ not found\b/, 'NotFound', 404],
];

/** What stands behind a failed deployment: the answer of the API server, else what helm's text tells. */
export function failureCause(error: OperatorError): FailureCause {
  if (error instanceof KubeApiError)
    return { reason: error.reason === '' ? UNKNOWN.reason : error.reason, status: error.status };
  return causeInText(error.message);
}

/** Reads a text of helm, or of a check that goes before it. */
export function causeInText(text: string): FailureCause {
  const found = CAUSES.find(([pattern]) => pattern.test(text));
  return found === undefined ? UNKNOWN : { reason: found[1], status: found[2] };
}

/**
 * The objects over which a deployment failed, as far as the text names them: kind and name, the kind also as
 * `deployments.apps` or `Kind=Deployment`; or a namespace that is missing, for all objects in it.
 */
export function namedObjects(text: string, objects: readonly KubeObject[]): readonly KubeObject[] {
  const missing = /namespaces "([^"]+)" not found/.exec(text)?.[1];
  return objects.filter(
    (object) => isNamed(text, object) || (missing !== undefined && object.metadata.namespace === missing),
  );
}

function isNamed(text: string, { kind = '', metadata: { name } }: KubeObject): boolean {
  if (kind === '' || !new RegExp(`["/]${escaped(name)}(?!${NAME_PART})`).test(text)) return false;
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}(?:s|es)?`;
  return new RegExp(`\\b(?:${kind}|${plural})\\b`, 'i').test(text);
}

function escaped(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, '\\$&');
}

/** What may follow in a longer name; a dot at the end of a sentence does not. */
const NAME_PART = '[\\w-]|\\.\\w';
