/**
 * The snapshot of one binding: objects by key as the hook sees them, sorted on demand. `selection-sink.ts` writes it,
 * `monitor.ts` reads it. It keeps the filter result, and the object itself only if the binding wants full objects, so
 * that large clusters fit into memory.
 */

import { canonicalJson } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { KubernetesBindingSpec, SnapshotItem } from '../../hook-config/kubernetes-binding.ts';

/** The state of one object that a binding keeps. */
export interface StoredObject {
  readonly namespace: string;
  readonly name: string;
  /** Equal for two states of an object if and only if nothing changed. */
  readonly version: string;
  readonly item: SnapshotItem;
}

/** Names an object in the store of its binding, as the reflector does. */
export function nameOf({ namespace, name }: StoredObject): string {
  return `${namespace}/${name}`;
}

export function toStoredObject(object: KubeObject, item: SnapshotItem): StoredObject {
  const { namespace = '', name, uid = '', resourceVersion } = object.metadata;
  const version = resourceVersion === undefined ? canonicalJson(object) : `${uid}/${resourceVersion}`;
  return { namespace, name, version, item };
}

/** The resource version of an object; any text that is no number where the object has none. */
export function resourceVersionOf({ version }: StoredObject): string {
  return version.slice(version.lastIndexOf('/') + 1);
}

/**
 * Whether two states of an object are the same to the hook: it has the same filter result, or, without a filter, nothing
 * at all changed.
 */
export function isSameState(before: StoredObject, after: StoredObject): boolean {
  // Without a filter the resource version decides: it changes with every write that changes something.
  if (!('filterResult' in before.item)) return before.version === after.version;
  return canonicalJson(before.item.filterResult) === canonicalJson(after.item.filterResult);
}

/** The objects of one binding by key, sorted on demand. */
export class ObjectStore {
  readonly #objects = new Map<string, StoredObject>();
  readonly #compare: (a: StoredObject, b: StoredObject) => number;
  #sorted: readonly SnapshotItem[] | undefined;

  constructor(spec: Pick<KubernetesBindingSpec, 'keepFullObjects'>, kind: string) {
    this.#compare = spec.keepFullObjects ? byNamespaceAndName : byPath(kind);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  set(key: string, stored: StoredObject): void {
    this.#objects.set(key, stored);
    this.#sorted = undefined;
  }

  delete(key: string): void {
    this.#objects.delete(key);
    this.#sorted = undefined;
  }

  /** Objects of one namespace, unsorted. Linear: it is called when a namespace leaves the selection. */
  ofNamespace(namespace: string): readonly StoredObject[] {
    return [...this.#objects.values()].filter((stored) => stored.namespace === namespace);
  }

  /** Takes out all objects of a namespace and returns them, sorted. */
  deleteNamespace(namespace: string): readonly StoredObject[] {
    const taken = this.ofNamespace(namespace);
    for (const stored of taken) this.delete(nameOf(stored));
    return this.sorted(taken);
  }

  /** All items, sorted by namespace and name; where no objects are kept, by the text `namespace/Kind/name`. */
  items(): readonly SnapshotItem[] {
    this.#sorted ??= this.sorted(this.#objects.values()).map(({ item }) => item);
    return this.#sorted;
  }

  sorted(objects: Iterable<StoredObject>): readonly StoredObject[] {
    return [...objects].sort(this.#compare);
  }
}

function byNamespaceAndName(a: StoredObject, b: StoredObject): number {
  return compareText(a.namespace, b.namespace) || compareText(a.name, b.name);
}

function byPath(kind: string): (a: StoredObject, b: StoredObject) => number {
  const path = (stored: StoredObject): string => `${stored.namespace}/${kind}/${stored.name}`;
  return (a, b) => compareText(path(a), path(b));
}

/** By UTF-16 code units, independent of the locale. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
