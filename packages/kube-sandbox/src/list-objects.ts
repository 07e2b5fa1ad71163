import { isObject } from '@addon-operator/json';
import { numberAt, stringAt } from './json-access.ts';
import type { ObjectFilter } from './query-selectors.ts';
import type { ListMeta } from './representation.ts';
import { objectKey, type ResourceObject } from './resource-object.ts';
import type { ObjectStore } from './sandbox-store.ts';
import { badRequest, expired, forbiddenField, invalid, StatusError } from './status-error.ts';

export interface ListOptions {
  /** Undefined for all namespaces, or a kind without. */
  readonly namespace: string | undefined;
  readonly filter: ObjectFilter;
  readonly hasSelector: boolean;
  /** 0 is no limit. */
  readonly limit: number;
  readonly continueToken: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
}

export interface ListResult {
  readonly objects: readonly ResourceObject[];
  readonly meta: ListMeta;
}

interface Position {
  readonly revision: number;
  readonly after: string;
}

/**
 * Lists objects: the state of now, or that of an older revision when the options or the continue token ask for it.
 *
 * @throws StatusError 400, 410, 422, 504
 */
export function listObjects(store: ObjectStore, storage: string, options: ListOptions): ListResult {
  const position = positionOf(store, options);
  const all = objectsAt(store, storage, options.namespace, position);
  const objects: ResourceObject[] = [];
  let remaining = 0;
  for (const object of all) {
    if (options.limit > 0 && objects.length === options.limit) {
      remaining += 1;
      if (options.hasSelector) break;
    } else if (options.filter(object)) objects.push(object);
  }
  const resourceVersion = String(position.revision);
  const last = objects.at(-1);
  if (remaining === 0 || last === undefined) return { objects, meta: { resourceVersion } };
  const token = { v: 'meta.k8s.io/v1', rv: position.revision, start: keyOf(last) };
  const meta = { resourceVersion, continue: Buffer.from(JSON.stringify(token)).toString('base64') };
  return { objects, meta: options.hasSelector ? meta : { ...meta, remainingItemCount: remaining } };
}

function keyOf(object: ResourceObject): string {
  return objectKey(object.metadata.namespace, object.metadata.name);
}

function positionOf(store: ObjectStore, options: ListOptions): Position {
  const { resourceVersion, resourceVersionMatch, continueToken } = options;
  if (continueToken !== '') {
    if (resourceVersion !== '' && resourceVersion !== '0')
      throw badRequest('specifying resource version is not allowed when using continue');
    return parseToken(store, continueToken);
  }
  const revision = parseRevision(resourceVersion);
  checkMatch(resourceVersion, resourceVersionMatch);
  if (revision > store.revision) throw tooLarge(revision, store.revision);
  const isExact =
    resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && options.limit > 0 && revision > 0);
  if (!isExact) return { revision: store.revision, after: '' };
  if (revision < store.compactedRevision)
    throw expired(`The resourceVersion for the provided list is too old: ${revision}`);
  return { revision, after: '' };
}

/**
 * A resourceVersion parameter as a number; 0 when it is missing.
 *
 * @throws StatusError 400
 */
export function parseRevision(text: string): number {
  if (text === '') return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

function parseToken(store: ObjectStore, text: string): Position {
  let token: unknown;
  try {
    token = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    token = undefined;
  }
  const revision = numberAt(token, 'rv');
  if (!isObject(token) || revision === undefined)
    throw badRequest('invalid continue token: continue key is not valid');
  if (revision < store.compactedRevision || revision > store.revision)
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
    );
  return { revision, after: stringAt(token, 'start') };
}

function checkMatch(resourceVersion: string, match: string): void {
  const refuse = (why: string): StatusError =>
    invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [
      forbiddenField('resourceVersionMatch', why),
    ]);
  if (match === '') return;
  if (resourceVersion === '')
    throw refuse('resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (match === 'Exact' && resourceVersion === '0')
    throw refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  if (match !== 'Exact' && match !== 'NotOlderThan')
    throw badRequest(`resourceVersionMatch: Unsupported value: ${JSON.stringify(match)}`);
}

function tooLarge(revision: number, current: number): StatusError {
  return new StatusError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${revision}, current: ${current}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  );
}

/** Objects behind a position as they were at its revision: the state of now with later changes taken back. */
function objectsAt(
  store: ObjectStore,
  storage: string,
  namespace: string | undefined,
  { revision, after }: Position,
): Iterable<ResourceObject> {
  const later = revision === store.revision ? [] : (store.changesSince(storage, revision) ?? []);
  if (later.length === 0) return store.list(storage, namespace, after === '' ? undefined : after);
  const byKey = new Map<string, ResourceObject>();
  for (const object of store.list(storage, namespace)) byKey.set(keyOf(object), object);
  for (const change of later.toReversed()) {
    if (change.previous === undefined) byKey.delete(change.key);
    else byKey.set(change.key, change.previous);
  }
  const isInside = (key: string): boolean =>
    key > after && (namespace === undefined || key.startsWith(`${namespace}/`));
  return [...byKey.keys()]
    .filter(isInside)
    .toSorted(compareKeys)
    .flatMap((key) => byKey.get(key) ?? []);
}

function compareKeys(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
