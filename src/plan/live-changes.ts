/**
 * Compares a rendered chart with the cluster through server-side apply with dryRun, for `module render --diff` and the
 * page. The API server computes defaults and admission. Removed fields need extra work, because an apply under a new field
 * manager removes nothing.
 */

import { hasCode, messageOf } from '@addon-operator/base/errors';
import { fieldsOf, isObject } from '@addon-operator/json';
import { type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import { type ApiResource, resourcePath } from '@addon-operator/kube-client/kube-object';
import {
  changeText,
  type ManifestChange,
  manifestObjectTitle,
  objectChange,
  objectsByTitle,
  type RawObject,
} from './manifest-changes.ts';

interface LiveDeps {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly find: (apiVersion: string, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  /** Namespace of objects that name none. */
  readonly namespace: string;
}

/** Who we are to the server in the trial; nothing is stored under this name. */
const FIELD_MANAGER = 'addon-operator-diff';

interface LiveChanges {
  readonly changes: readonly ManifestChange[];
  /** One sentence for each object that cannot be compared. */
  readonly problems: readonly string[];
}

/**
 * The changes that an upgrade would make in the cluster, by the response of the API server to a dry run:
 * defaults and admission are in it. Changes nothing. Hooks of helm are left out, data of Secrets shows as asterisks.
 *
 * @param deployed what the release consists of; empty without one
 * @throws OperatorError HELM_FAILED, VALUES_INVALID when a manifest is no YAML, KUBE_UNREACHABLE
 */
async function liveChanges(
  deps: LiveDeps,
  { manifest, deployed }: { readonly manifest: string; readonly deployed: string },
  signal: AbortSignal,
): Promise<LiveChanges> {
  const wanted = objectsByTitle(manifest, deps.namespace);
  const old = objectsByTitle(deployed, deps.namespace);
  const changes: ManifestChange[] = [];
  const problems: string[] = [];
  const compare = async (title: string, look: () => Promise<ManifestChange | undefined>): Promise<void> => {
    try {
      const change = await look();
      if (change !== undefined) changes.push(change);
    } catch (error) {
      if (!hasCode(error, 'KUBE_KIND_UNKNOWN') && !hasCode(error, 'KUBE_API')) throw error;
      problems.push(`${title} cannot be compared: ${messageOf(error)}`);
    }
  };
  for (const [title, object] of wanted)
    await compare(title, () => changeOf(deps, object, old.get(title), signal));
  for (const [title, object] of old)
    if (!wanted.has(title) && !isKept(object)) await compare(title, () => removalOf(deps, object, signal));
  return { changes, problems };
}

/** As {@link liveChanges}, as text: a difference for each object, and what cannot be compared; empty for nothing. */
export async function liveDiff(...request: Parameters<typeof liveChanges>): Promise<string> {
  const { changes, problems } = await liveChanges(...request);
  return `${changeText(changes)}${problems.map((problem) => `# ${problem}\n`).join('')}`;
}

/** The difference for an object of the new manifest, by a dry run of server-side apply. */
async function changeOf(
  deps: LiveDeps,
  object: RawObject,
  deployed: RawObject | undefined,
  signal: AbortSignal,
): Promise<ManifestChange | undefined> {
  const { kube, namespace } = deps;
  const path = await pathOf(deps, object, signal);
  if (path === undefined) return undefined;
  const live = await liveObject(kube, path, signal);
  const applied = await kube.request(
    {
      method: 'PATCH',
      path,
      query: { fieldManager: FIELD_MANAGER, force: 'true', dryRun: 'All' },
      contentType: 'application/apply-patch+yaml',
      body: object,
    },
    signal,
  );
  const result = withoutDropped(applied, deployed, object);
  const after = isObject(result) ? withoutBookkeeping(result) : object;
  return objectChange(manifestObjectTitle(object, namespace), live && withoutBookkeeping(live), after);
}

/** The removal of an object that the new manifest drops; undefined if it is gone already. */
async function removalOf(
  deps: LiveDeps,
  object: RawObject,
  signal: AbortSignal,
): Promise<ManifestChange | undefined> {
  const path = await pathOf(deps, object, signal);
  const live = path === undefined ? undefined : await liveObject(deps.kube, path, signal);
  return live && objectChange(manifestObjectTitle(object, deps.namespace), live, undefined);
}

/** Undefined for what is no object with a name. */
async function pathOf(
  { find, namespace }: LiveDeps,
  { apiVersion, kind, metadata }: RawObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { name, namespace: own } = fieldsOf(metadata);
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string')
    return undefined;
  const resource = await find(apiVersion, kind, signal);
  const place = typeof own === 'string' && own !== '' ? own : namespace;
  return resourcePath(resource, resource.isNamespaced ? place : undefined, name);
}

/** Whether helm leaves the object where it is when its chart drops it. */
function isKept({ metadata }: RawObject): boolean {
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined;
  return isObject(annotations) && annotations['helm.sh/resource-policy'] === 'keep';
}

async function liveObject(
  kube: LiveDeps['kube'],
  path: string,
  signal: AbortSignal,
): Promise<RawObject | undefined> {
  const object = await requestIfPresent(kube, { method: 'GET', path }, signal);
  return isObject(object) ? object : undefined;
}

/** Fields that the server keeps for itself and that every trial changes. */
const BOOKKEEPING = ['managedFields', 'resourceVersion', 'uid', 'creationTimestamp', 'generation'];

function withoutBookkeeping(object: RawObject): RawObject {
  const { metadata } = object;
  if (!isObject(metadata)) return object;
  const kept = Object.entries(metadata).filter(([key]) => !BOOKKEEPING.includes(key));
  return { ...object, metadata: Object.fromEntries(kept) };
}

/**
 * An object as it would be after an upgrade that drops fields. A server-side apply under another name than helm's takes
 * no field away, helm does: those that the deployed manifest sets and the new one does not.
 *
 * @param after the object with everything that the new manifest sets
 */
export function withoutDropped(after: unknown, deployed: unknown, wanted: unknown): unknown {
  if (isObject(after) && isObject(deployed) && isObject(wanted)) {
    const entries = Object.entries(after).flatMap(([key, value]): [string, unknown][] => {
      if (!Object.hasOwn(deployed, key)) return [[key, value]];
      if (Object.hasOwn(wanted, key)) return [[key, withoutDropped(value, deployed[key], wanted[key])]];
      const rest = leftOf(value, deployed[key]);
      return rest === undefined ? [] : [[key, rest]];
    });
    return Object.fromEntries(entries);
  }
  if (!Array.isArray(after) || !Array.isArray(deployed) || !Array.isArray(wanted)) return after;
  const [before, desired]: readonly (readonly unknown[])[] = [deployed, wanted];
  return after.flatMap((item: unknown) => {
    const was = named(before, item);
    if (was === undefined) return [item];
    const is = named(desired, item);
    return is === undefined ? [] : [withoutDropped(item, was, is)];
  });
}

/** Fields of other clients in something that helm removes; undefined when there are none. */
function leftOf(value: unknown, deployed: unknown): unknown {
  if (!isObject(value) || !isObject(deployed)) return undefined;
  const rest = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    const left = Object.hasOwn(deployed, key) ? leftOf(item, deployed[key]) : item;
    return left === undefined ? [] : [[key, left]];
  });
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** The item of a list that has the name of another one; items without a name cannot be distinguished. */
function named(list: readonly unknown[] | undefined, item: unknown): unknown {
  const name = isObject(item) ? item['name'] : undefined;
  if (typeof name !== 'string') return undefined;
  return list?.find((other) => isObject(other) && other['name'] === name);
}
