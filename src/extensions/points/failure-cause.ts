import type { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';

/** What the API server meant by an error of which only the text is left. */
interface FailureCause {
  /** The word the API server has for it; `Unknown` when the text has none. */
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
    /objects of its chart belong to another release|other field managers changed fields that its chart sets/,
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

/** The cause of a failed deployment: the response of the API server, else the one in helm's text. */
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
 * The objects over which a deployment failed, as far as the text names them: by kind and name together in one of the
 * ways that helm and the API server have, else by both somewhere; or all objects of a namespace that is missing.
 */
export function namedObjects(text: string, objects: readonly KubeObject[]): readonly KubeObject[] {
  const shown = text.replace(RELEASE, '');
  const missing = /namespaces "([^"]+)" not found/.exec(shown)?.[1];
  const inMissing = objects.filter(({ metadata }) => missing !== undefined && metadata.namespace === missing);
  const together = objects.filter((object) => isNamedAs(PHRASES, shown, object));
  if (inMissing.length + together.length > 0)
    return objects.filter((object) => inMissing.includes(object) || together.includes(object));
  return objects.filter((object) => isNamedAs(MENTIONS, shown, object));
}

/** Patterns that have to be found, made from those of a kind and of a name. */
type Patterns = (kind: string, name: string) => readonly string[];

/** Any of these will do. */
const PHRASES: Patterns = (kind, name) => [
  [
    `\\b${kind}(?:\\.[\\w.-]+)? "${name}"`,
    `"${name}" with kind ${kind}\\b`,
    `/${name} [\\w./-]+, Kind=${kind}\\b`,
    `name: "${name}" namespace: "[^"]*" from "[^"]*": no matches for kind "${kind}"`,
    `/${kind}/${name}(?![\\w-]|\\.\\w)`,
  ].join('|'),
];
const MENTIONS: Patterns = (kind, name) => [`\\b${kind}\\b`, `["/]${name}(?![\\w-]|\\.\\w)`];

function isNamedAs(patterns: Patterns, text: string, { kind = '', metadata: { name } }: KubeObject): boolean {
  if (kind === '') return false;
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}(?:s|es)?`;
  return patterns(`(?:${kind}|${plural})`, escaped(name)).every((pattern) =>
    new RegExp(pattern, 'i').test(text),
  );
}

function escaped(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, '\\$&');
}

/** How our own messages begin; the release is often called as one of its objects. */
const RELEASE = /^Cannot deploy release "[^"]*": /;
