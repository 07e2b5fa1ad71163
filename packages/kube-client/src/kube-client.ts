import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject } from '@addon-operator/json';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface KubeRequest {
  readonly method: HttpMethod;
  /** Absolute URL path without query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Default `application/json`. */
  readonly accept?: string;
  /** Limit for the whole request in milliseconds; default 60 000. */
  readonly timeoutMs?: number;
  /** For a write, on the steady clock: it fails with KUBE_UNREACHABLE rather than being sent at this time or later. */
  readonly sendBeforeMs?: number;
}

/** Access to one API server, on raw JSON. */
export interface KubeClient {
  /**
   * Sends one request and returns the parsed response (`parseJson`); undefined for an empty body.
   *
   * @throws KubeApiError for every status outside 2xx
   * @throws OperatorError KUBE_UNREACHABLE when there is no response (connection refused, reset, time-out)
   */
  request(request: KubeRequest, signal: AbortSignal): Promise<unknown>;
  /**
   * Opens a stream of lines (a watch). Resolves once status and headers arrived. The iteration ends
   * when the server closes the stream orderly, throws KUBE_UNREACHABLE when it breaks (a partial last line is dropped,
   * never delivered), and rejects with `signal.reason` on abort.
   */
  stream(request: KubeRequest, signal: AbortSignal): Promise<AsyncIterable<string>>;
}

/** One of the details of a refusal. */
export interface ApiCause {
  /** For instance `FieldManagerConflict`; each of them is empty if the server leaves it out. */
  readonly reason: string;
  /** For instance `.spec.replicas`. */
  readonly field: string;
  readonly message: string;
}

/** The API server refused a request. */
export class KubeApiError extends OperatorError {
  /** HTTP status. */
  readonly status: number;
  /** `reason` of the Status object, for instance `NotFound`; empty if there was none. */
  readonly reason: string;
  /** Seconds to wait, from the Retry-After header. */
  readonly retryAfterSeconds: number | undefined;
  /** `details.causes` of the Status object. */
  readonly causes: readonly ApiCause[];

  constructor(
    message: string,
    response: {
      readonly status: number;
      readonly reason: string;
      readonly retryAfterSeconds?: number;
      readonly causes?: readonly ApiCause[];
    },
    options?: { readonly cause?: unknown },
  ) {
    super('KUBE_API', message, options);
    this.status = response.status;
    this.reason = response.reason;
    this.retryAfterSeconds = response.retryAfterSeconds;
    this.causes = response.causes ?? [];
  }
}

/** Whether `error` is a response of an API server with this HTTP status. */
export function hasStatus(error: unknown, status: number): error is KubeApiError {
  return error instanceof KubeApiError && error.status === status;
}

/** The `Accept` header of a request that wants no more than the metadata of an object, or of each object in a list. */
export function metadataAccept(shape: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${shape};g=meta.k8s.io;v=v1,application/json`;
}

/** The end of the response, in place of a Status object, to a request for a kind that is not served. */
const UNSERVED = ': 404 page not found';

/**
 * Sends a request about something that may not exist: undefined when the API server says that it does not, or that it does
 * not serve the kind. A page of a proxy with any status is an error: otherwise objects would be taken for deleted.
 *
 * @throws KubeApiError for every other refusal; other errors of the client
 */
export async function requestIfPresent(
  kube: Pick<KubeClient, 'request'>,
  request: KubeRequest,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await kube.request(request, signal);
  } catch (error) {
    if (hasStatus(error, 404) && (error.reason === 'NotFound' || error.message.endsWith(UNSERVED)))
      return undefined;
    throw error;
  }
}

/**
 * Whether a write failed because another client changed, created or deleted the object after it was read.
 *
 * @param isNew the object was to be created. A deleted namespace answers 404 to that too, and that is no race.
 */
export function isOutrun(error: unknown, isNew: boolean): boolean {
  return hasStatus(error, 409) || (!isNew && hasStatus(error, 404));
}

const LIST_ACCEPT = metadataAccept('PartialObjectMetadataList');
const PAGE_SIZE = '500';

/** `metadata` of every object in a collection that matches a label selector, without the rest of the objects. */
export async function listMetadata(
  kube: KubeClient,
  collectionPath: string,
  labelSelector: string,
  signal: AbortSignal,
): Promise<readonly Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  let token: string | undefined;
  do {
    const list = await kube.request(
      {
        method: 'GET',
        path: collectionPath,
        query: { labelSelector, limit: PAGE_SIZE, continue: token },
        accept: LIST_ACCEPT,
      },
      signal,
    );
    const items = isObject(list) && Array.isArray(list['items']) ? list['items'] : [];
    for (const item of items) found.push(metadataOf(item));
    const next = metadataOf(list)['continue'];
    token = typeof next === 'string' && next !== '' ? next : undefined;
  } while (token !== undefined);
  return found;
}

/** The list; undefined when the role of this account may not list there, though it may read single objects. */
export async function ifAllowed<List>(list: Promise<List>): Promise<List | undefined> {
  try {
    return await list;
  } catch (error) {
    if (hasStatus(error, 403)) return undefined;
    throw error;
  }
}

/** `metadata` of an object; empty when it has none. */
export function metadataOf(object: unknown): Readonly<Record<string, unknown>> {
  return fieldsOf(fieldsOf(object)['metadata']);
}
