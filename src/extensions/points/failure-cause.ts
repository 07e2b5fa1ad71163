import type { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';

/** The cause of an error of the API server of which only the message is known. */
interface FailureCause {
  /** The API server's reason; `Unknown` if the message shows none. */
  readonly reason: string;
  /** The HTTP status of that reason; null if the server sent none. */
  readonly status: number | null;
}

const UNKNOWN: FailureCause = { reason: 'Unknown', status: null };

/**
 * Messages of the API server and of its clients, the more specific ones first
 * (https://github.com/kubernetes/apimachinery/blob/master/pkg/api/errors/errors.go). helm reports
 * errors as messages only, so the status has to be derived from them.
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

/**
 * The cause of a failed deployment: the response of the API server, else the one in helm's message.
 */
export function failureCause(error: OperatorError): FailureCause {
  if (error instanceof KubeApiError)
    return { reason: error.reason === '' ? UNKNOWN.reason : error.reason, status: error.status };
  return causeInText(error.message);
}

/** Derives the cause from a message of helm, or of a check before it. */
export function causeInText(message: string): FailureCause {
  const found = CAUSES.find(([pattern]) => pattern.test(message));
  return found === undefined ? UNKNOWN : { reason: found[1], status: found[2] };
}

/**
 * The objects that caused a failure, as far as the message names them: by kind and name together in
 * a phrase of helm or of the API server, else by both anywhere; or all objects of a missing
 * namespace.
 */
export function namedObjects(message: string, objects: readonly KubeObject[]): readonly KubeObject[] {
  const shown = message.replace(RELEASE, '');
  const missing = /namespaces "([^"]+)" not found/.exec(shown)?.[1];
  const inMissing = objects.filter(({ metadata }) => missing !== undefined && metadata.namespace === missing);
  const together = objects.filter((object) => isNamedAs(PHRASES, shown, object));
  if (inMissing.length + together.length > 0)
    return objects.filter((object) => inMissing.includes(object) || together.includes(object));
  return objects.filter((object) => isNamedAs(MENTIONS, shown, object));
}

/** Patterns that all have to match, built from those of a kind and of a name. */
type Patterns = (kind: string, name: string) => readonly string[];

/** One alternation: any of the phrases suffices. */
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

function isNamedAs(
  patterns: Patterns,
  message: string,
  { kind = '', metadata: { name } }: KubeObject,
): boolean {
  if (kind === '') return false;
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}(?:s|es)?`;
  return patterns(`(?:${kind}|${plural})`, escaped(name)).every((pattern) =>
    new RegExp(pattern, 'i').test(message),
  );
}

function escaped(word: string): string {
  return word.replace(/[^A-Za-z0-9]/g, '\\$&');
}

/**
 * The prefix of our own messages; it is removed, because a release often has the name of one of its
 * objects.
 */
const RELEASE = /^Cannot deploy release "[^"]*": /;
