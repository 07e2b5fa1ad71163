/**
 * Reads the objects of a release as they are in the cluster, for people who look at a module. One request for each kind, and
 * one for Events: a kind with one object is read, others are listed by the label that helm sets. Kinds without a status
 * are read without their content, so that data of Secrets never gets here.
 */

import type { WallClock } from '@addon-operator/base/clock';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { parseManifest } from '@addon-operator/helm/manifest-document';
import { type ManifestObject, releaseObjects } from '@addon-operator/helm/manifest-object';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import {
  hasStatus,
  type KubeClient,
  metadataAccept,
  metadataOf,
} from '@addon-operator/kube-client/kube-client';
import { type ApiResource, resourcePath, toKubeObject } from '@addon-operator/kube-client/kube-object';
import { whyNotReady } from '@addon-operator/kube-client/readiness';
import { shellWord } from '@addon-operator/strings/shell-word';
import type {
  ObjectEvent,
  ObjectState,
  ReleaseObjects,
  ReleaseObjectView,
} from '../status/release-objects.ts';

export interface ReleaseObjectsParts {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly find: (apiVersion: string, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  /** Namespace of objects that name none. */
  readonly namespace: string;
  readonly clock: WallClock;
}

/** An object of the manifest in its place; what others know of it is added elsewhere. */
type Placed = ManifestObject & { readonly order: number };

interface Found {
  readonly state: ObjectState;
  readonly reason: string;
  readonly createdAt: string | null;
}

/** Helm sets it on all objects. */
const OF_HELM = 'app.kubernetes.io/managed-by=Helm';
/** Longer lists are not read to their end: what is not in it is not known. */
const LIST_LIMIT = '1000';
const HOUR_MS = 3_600_000;
const SHOWN_EVENTS = 5;
const MAX_MESSAGE = 300;
/** Kinds whose readiness does not depend on their content. */
const WITHOUT_STATUS: ReadonlySet<string> = new Set(['Secret', 'ConfigMap', 'ServiceAccount']);
const GROUPS_WITHOUT_STATUS: ReadonlySet<string> = new Set([
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'scheduling.k8s.io',
  'admissionregistration.k8s.io',
]);
const WITH_PODS: ReadonlySet<string> = new Set([
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'Job',
]);
const PROBLEMS_FIRST: readonly ObjectState[] = ['missing', 'not-ready', 'unknown', 'not-permitted', 'ready'];

/**
 * @param manifest of the release
 * @throws OperatorError HELM_FAILED when the manifest is no YAML, KUBE_UNREACHABLE, and the reason of the signal
 */
export async function readReleaseObjects(
  parts: ReleaseObjectsParts,
  manifest: string,
  signal: AbortSignal,
): Promise<ReleaseObjects> {
  const objects = releaseObjects(parseManifest(manifest)).map((object, order) => ({ ...object, order }));
  const kinds = Map.groupBy(objects, ({ apiVersion, kind }) => `${apiVersion} ${kind}`);
  const [events, ...read] = await Promise.all([
    readEvents(parts, objects, signal),
    ...[...kinds.values()].map((ofKind) => readKind(parts, ofKind, signal)),
  ]);
  const views = read.flat().map(({ order, ...view }) => ({
    order,
    view: { ...view, drift: [], events: eventsOf(view, events.all) },
  }));
  const rank = (state: ObjectState): number => PROBLEMS_FIRST.indexOf(state);
  views.sort((a, b) => rank(a.view.state) - rank(b.view.state) || a.order - b.order);
  return { objects: views.map(({ view }) => view), eventsProblem: events.problem };
}

type ReadObject = Omit<ReleaseObjectView, 'drift' | 'events'> & { readonly order: number };

/** The objects of one kind, with one request. */
async function readKind(
  parts: ReleaseObjectsParts,
  objects: readonly Placed[],
  signal: AbortSignal,
): Promise<readonly ReadObject[]> {
  const [{ apiVersion, kind } = { apiVersion: '', kind: '' }] = objects;
  try {
    const resource = await parts.find(apiVersion, kind, signal);
    const placed = objects.map((object) => placeOf(object, resource, parts.namespace));
    const found = await lookUp(parts, resource, placed, signal);
    return placed.map((object) => viewOf(object, resource, found(object)));
  } catch (error) {
    const failed = failureOf(error);
    return objects.map((object) => viewOf(placeOf(object, undefined, parts.namespace), undefined, failed));
  }
}

/** @throws what is no response about this kind */
function failureOf(error: unknown): Found {
  if (hasStatus(error, 403))
    return { state: 'not-permitted', reason: 'the operator may not read this kind', createdAt: null };
  if (hasCode(error, 'KUBE_KIND_UNKNOWN') || hasCode(error, 'KUBE_API'))
    return { state: 'unknown', reason: messageOf(error), createdAt: null };
  throw error;
}

function placeOf(object: Placed, resource: ApiResource | undefined, namespace: string): Placed {
  if (resource?.isNamespaced === false) return { ...object, namespace: '' };
  return object.namespace === '' ? { ...object, namespace } : object;
}

/** Reads the objects; returns what was found of each. */
async function lookUp(
  { kube }: ReleaseObjectsParts,
  resource: ApiResource,
  objects: readonly Placed[],
  signal: AbortSignal,
): Promise<(object: Placed) => Found> {
  const isBare = WITHOUT_STATUS.has(resource.kind) || GROUPS_WITHOUT_STATUS.has(resource.group);
  const [first] = objects;
  const [only, ...others] = [...new Set(objects.map(({ namespace }) => namespace))];
  // Cluster-wide if the objects are in several namespaces: one request all the same.
  const namespace = others.length === 0 && resource.isNamespaced ? only : undefined;
  const byKey = new Map<string, Found>();
  const add = (object: unknown): void => {
    const { name, namespace: place } = metadataOf(object);
    byKey.set(`${stringOf(place)}/${stringOf(name)}`, foundOf(object, resource, isBare));
  };
  if (objects.length === 1 && first !== undefined) {
    const path = resourcePath(resource, namespace, first.name);
    const accept = isBare ? { accept: metadataAccept('PartialObjectMetadata') } : {};
    try {
      add(await kube.request({ method: 'GET', path, ...accept }, signal));
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
    }
    return ({ namespace: place, name }) => byKey.get(`${place}/${name}`) ?? MISSING;
  }
  const accept = isBare ? { accept: metadataAccept('PartialObjectMetadataList') } : {};
  const query = { labelSelector: OF_HELM, limit: LIST_LIMIT };
  const path = resourcePath(resource, namespace);
  const list = fieldsOf(await kube.request({ method: 'GET', path, query, ...accept }, signal));
  for (const item of Array.isArray(list['items']) ? list['items'] : []) add(item);
  const isWhole = stringOf(metadataOf(list)['continue']) === '';
  return ({ namespace: place, name }) => byKey.get(`${place}/${name}`) ?? (isWhole ? MISSING : NOT_LISTED);
}

const MISSING: Found = {
  state: 'missing',
  reason: 'it does not exist, or has lost its labels',
  createdAt: null,
};
const NOT_LISTED: Found = {
  state: 'unknown',
  reason: 'there are more than 1,000 objects of this kind',
  createdAt: null,
};

function foundOf(object: unknown, resource: ApiResource, isBare: boolean): Found {
  const { creationTimestamp, deletionTimestamp } = metadataOf(object);
  const createdAt = stringOf(creationTimestamp) || null;
  if (isBare && deletionTimestamp === undefined) return { state: 'ready', reason: '', createdAt };
  const known = toKubeObject(object, resource);
  const reason = known === undefined ? 'it cannot be read' : whyNotReady(known);
  return reason === undefined
    ? { state: 'ready', reason: '', createdAt }
    : { state: 'not-ready', reason, createdAt };
}

function viewOf(object: Placed, resource: ApiResource | undefined, found: Found): ReadObject {
  const { apiVersion, kind, namespace, name, order } = object;
  const place = namespace === '' ? '' : ` -n ${shellWord(namespace)}`;
  const group = apiVersion.includes('/') ? `.${apiVersion.replace(/\/.*/, '')}` : '';
  const target = `${resource?.plural ?? kind.toLowerCase()}${group}/${name}`;
  const isOfPods = kind === 'Pod' || WITH_PODS.has(kind);
  return {
    order,
    apiVersion,
    kind,
    namespace,
    name,
    ...found,
    logs: isOfPods ? `kubectl logs${place} ${shellWord(target)} --all-containers --tail 100` : '',
    describe: `kubectl describe${place} ${shellWord(target)}`,
  };
}

interface NamedEvent extends ObjectEvent {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/** Events of the last hour in the namespaces of the objects, the newest first; without the right to list them none. */
async function readEvents(
  { kube, namespace, clock }: ReleaseObjectsParts,
  objects: readonly Placed[],
  signal: AbortSignal,
): Promise<{ readonly all: readonly NamedEvent[]; readonly problem: string }> {
  const places = [...new Set(objects.map(({ namespace: place }) => place || namespace))];
  const path = places.length === 1 ? `/api/v1/namespaces/${places[0]}/events` : '/api/v1/events';
  try {
    const list = fieldsOf(await kube.request({ method: 'GET', path, query: { limit: LIST_LIMIT } }, signal));
    const sinceMs = clock.wallMs() - HOUR_MS;
    const items = Array.isArray(list['items']) ? list['items'].filter(isObject) : [];
    const all = items.map(eventOf).filter(({ at }) => Date.parse(at) >= sinceMs);
    return { all: all.sort((a, b) => b.at.localeCompare(a.at)), problem: '' };
  } catch (error) {
    return { all: [], problem: `Events cannot be read: ${failureOf(error).reason}` };
  }
}

/** Events have one of three times, by the version of who wrote them. */
function eventOf(event: Readonly<Record<string, unknown>>): NamedEvent {
  const { kind, namespace, name } = fieldsOf(event['involvedObject']);
  const { lastObservedTime, count } = fieldsOf(event['series']);
  const times = [lastObservedTime, event['lastTimestamp'], event['eventTime']].map((time) => stringOf(time));
  const atMs = Date.parse(times.find((time) => time !== '') ?? '');
  return {
    namespace: stringOf(namespace),
    kind: stringOf(kind),
    name: stringOf(name),
    at: isoTime(atMs),
    type: stringOf(event['type']),
    reason: stringOf(event['reason']),
    message: stringOf(event['message']).slice(0, MAX_MESSAGE),
    count: Number(count ?? event['count'] ?? 1) || 1,
  };
}

/** Those of the object; of a workload also those of its pods, whose names begin with its own. */
function eventsOf(
  object: ReadObject | Omit<ReadObject, 'order'>,
  events: readonly NamedEvent[],
): readonly ObjectEvent[] {
  const isAbout = ({ kind, namespace, name }: NamedEvent): boolean =>
    namespace === object.namespace &&
    (kind === object.kind
      ? name === object.name
      : WITH_PODS.has(object.kind) &&
        (kind === 'Pod' || kind === 'ReplicaSet') &&
        name.startsWith(`${object.name}-`));
  return events
    .filter(isAbout)
    .slice(0, SHOWN_EVENTS)
    .map(({ at, type, reason, message, count }) => ({ at, type, reason, message, count }));
}
