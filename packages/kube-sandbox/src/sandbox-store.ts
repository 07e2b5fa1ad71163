import { type ResourceObject, withMeta } from './resource-object.ts';
import { SortedKeys } from './sorted-keys.ts';

/** One committed change. `object` is the last state for a removal, with the revision of the removal. */
export interface StoreChange {
  readonly revision: number;
  readonly storage: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly type: 'added' | 'modified' | 'removed';
  readonly object: ResourceObject;
  readonly previous: ResourceObject | undefined;
}

/** Keeps what is committed; called before anyone else hears of the change. */
export interface ChangeLog {
  append(change: StoreChange): void;
}

/** One object and where it is kept. */
export interface StoredEntry {
  readonly storage: string;
  readonly key: string;
  readonly object: ResourceObject;
}

export interface StoreState {
  readonly revision: number;
  readonly objects: Iterable<StoredEntry>;
}

interface Collection {
  readonly objects: Map<string, ResourceObject>;
  readonly keys: SortedKeys;
}

/**
 * Changes kept, at least, so that watches and paged lists can go on from an older revision. Each keeps an old state of
 * its object in memory; a client that is further behind lists anew.
 */
const KEPT_CHANGES = 1000;

/**
 * All objects in memory, one revision counter over all of them, and the latest changes. Handlers and controllers write whole
 * objects that are checked already; each commit is appended to the journal first, then reported to the listeners: watches,
 * controllers, the registry of kinds. Lists and watches that go on from an older revision read the kept changes; when these
 * are forgotten, the client gets a 410 and lists anew. Synchronous throughout.
 */
export class ObjectStore {
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #log: ChangeLog;
  #revision: number;
  #compactedRevision: number;
  #changes: StoreChange[] = [];

  constructor(initial: StoreState, log: ChangeLog) {
    this.#log = log;
    this.#revision = initial.revision;
    this.#compactedRevision = initial.revision;
    for (const { storage, key, object } of initial.objects) this.#put(storage, key, object);
  }

  /** Revision of the latest change. */
  get revision(): number {
    return this.#revision;
  }

  /** Changes up to this revision are forgotten. */
  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  get(storage: string, key: string): ResourceObject | undefined {
    return this.#collections.get(storage)?.objects.get(key);
  }

  /** Number of objects in `namespace`, in all namespaces without it. */
  count(storage: string, namespace?: string): number {
    const keys = this.#collections.get(storage)?.keys;
    if (keys === undefined) return 0;
    return namespace === undefined ? keys.size : keys.countPrefix(`${namespace}/`);
  }

  /** Objects in key order, of one namespace if given, behind the key `after` if given. */
  *list(storage: string, namespace?: string, after?: string): Generator<ResourceObject> {
    const collection = this.#collections.get(storage);
    if (collection === undefined) return;
    for (const key of collection.keys.from(namespace === undefined ? '' : `${namespace}/`, after)) {
      const object = collection.objects.get(key);
      if (object !== undefined) yield object;
    }
  }

  /** Storages that hold at least one object. */
  storages(): readonly string[] {
    return [...this.#collections].filter(([, { keys }]) => keys.size > 0).map(([storage]) => storage);
  }

  /** Every object, for a snapshot of the whole store. */
  *all(): Generator<StoredEntry> {
    for (const [storage, { objects }] of this.#collections) {
      for (const [key, object] of objects) yield { storage, key, object };
    }
  }

  /** Commits an object; returns it with its new resourceVersion. */
  write(storage: string, key: string, object: ResourceObject): ResourceObject {
    const previous = this.get(storage, key);
    const revision = this.#revision + 1;
    const stored = withMeta(object, { resourceVersion: String(revision) });
    const type = previous === undefined ? 'added' : 'modified';
    this.#commit({ revision, storage, key, type, object: stored, previous });
    return stored;
  }

  /** Commits a removal; returns the last state with the revision of the removal, undefined if there was nothing. */
  remove(storage: string, key: string): ResourceObject | undefined {
    const previous = this.get(storage, key);
    if (previous === undefined) return undefined;
    const revision = this.#revision + 1;
    const object = withMeta(previous, { resourceVersion: String(revision) });
    this.#commit({ revision, storage, key, type: 'removed', object, previous });
    return object;
  }

  /**
   * Changes of one storage after `revision`, oldest first; undefined when some of them are forgotten or the revision
   * lies in the future.
   */
  changesSince(storage: string, revision: number): readonly StoreChange[] | undefined {
    if (revision < this.#compactedRevision || revision > this.#revision) return undefined;
    return this.#changes.filter((change) => change.revision > revision && change.storage === storage);
  }

  /** Calls `listener` after each commit until the returned function is called. */
  subscribe(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #commit(change: StoreChange): void {
    this.#log.append(change);
    this.#revision = change.revision;
    if (change.type === 'removed') this.#drop(change.storage, change.key);
    else this.#put(change.storage, change.key, change.object);
    this.#changes.push(change);
    if (this.#changes.length >= 2 * KEPT_CHANGES) {
      const forgotten = this.#changes.length - KEPT_CHANGES;
      this.#compactedRevision = this.#changes[forgotten - 1]?.revision ?? this.#compactedRevision;
      this.#changes = this.#changes.slice(forgotten);
    }
    for (const listener of this.#listeners) listener(change);
  }

  #put(storage: string, key: string, object: ResourceObject): void {
    let collection = this.#collections.get(storage);
    if (collection === undefined) {
      collection = { objects: new Map(), keys: new SortedKeys() };
      this.#collections.set(storage, collection);
    }
    if (!collection.objects.has(key)) collection.keys.add(key);
    collection.objects.set(key, object);
  }

  #drop(storage: string, key: string): void {
    const collection = this.#collections.get(storage);
    collection?.objects.delete(key);
    collection?.keys.delete(key);
  }
}
