import { isOlderVersion, type KubeObject } from './kube-object.ts';
import { keyOf, type ReflectorEvent } from './reflector-sink.ts';

/** Identity of an object as it was seen last. Another uid under the same name is another object. */
interface Known {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/**
 * Remembers uid and version of each object as it was seen last, and turns raw watch events and complete lists into the
 * changes since then. Objects themselves are not kept: subscribers have their own copies of the parts they need.
 */
export class ReflectorIndex {
  #known = new Map<string, Known>();

  get size(): number {
    return this.#known.size;
  }

  /** Takes a watch event; the result is empty if the event is repeated or outdated. */
  observe(change: 'Added' | 'Modified' | 'Deleted', object: KubeObject): readonly ReflectorEvent[] {
    const key = keyOf(object);
    const known = this.#known.get(key);
    const seen = versionOf(object);
    if (known !== undefined && isOutdated(seen, known, change)) return [];
    if (change === 'Deleted') {
      this.#known.delete(key);
      return known === undefined ? [] : [{ type: 'Deleted', key, object }];
    }
    this.#known.set(key, seen);
    if (known === undefined || known.uid === seen.uid) return [{ type: change, key, object }];
    return [
      { type: 'Deleted', key, object: undefined },
      { type: 'Added', key, object },
    ];
  }

  /**
   * Begins to compare a complete list with what is known; nothing changes before {@link ListComparison.finish}.
   *
   * @param isConverted whether the list is of another version of the kind: every object counts as changed then
   */
  compare(isConverted = false): ListComparison {
    const adopt = (known: Map<string, Known>): void => {
      this.#known = known;
    };
    return new ListComparison(this.#known, adopt, isConverted);
  }
}

/** Collects a list page by page. Only objects that changed are held. */
class ListComparison {
  readonly #before: ReadonlyMap<string, Known>;
  readonly #adopt: (known: Map<string, Known>) => void;
  readonly #isConverted: boolean;
  readonly #after = new Map<string, Known>();
  #replaced: ReflectorEvent[] = [];
  #changed: ReflectorEvent[] = [];

  constructor(
    before: ReadonlyMap<string, Known>,
    adopt: (known: Map<string, Known>) => void,
    isConverted: boolean,
  ) {
    this.#before = before;
    this.#adopt = adopt;
    this.#isConverted = isConverted;
  }

  /**
   * Takes a page of the list.
   *
   * @param isCollecting false when the changes are not needed: then no object is held
   */
  add(objects: readonly KubeObject[], isCollecting: boolean): void {
    for (const object of objects) {
      const key = keyOf(object);
      const seen = versionOf(object);
      this.#after.set(key, seen);
      if (isCollecting) this.#collect(key, object, seen);
    }
  }

  /** Compares one object of the list with its known version. */
  #collect(key: string, object: KubeObject, seen: Known): void {
    const known = this.#before.get(key);
    if (known === undefined) {
      this.#changed.push({ type: 'Added', key, object });
    } else if (known.uid !== seen.uid) {
      this.#replaced.push({ type: 'Deleted', key, object: undefined });
      this.#changed.push({ type: 'Added', key, object });
    } else if (this.#isConverted || known.resourceVersion !== seen.resourceVersion) {
      this.#changed.push({ type: 'Modified', key, object });
    }
  }

  /**
   * Completes the comparison: the list becomes the known state. Returns the changes, deletions first.
   *
   * @param hasUnnamed whether objects without a name were left out: any of those that are missing may be one of them
   */
  finish(hasUnnamed = false): readonly ReflectorEvent[] {
    if (hasUnnamed)
      for (const [key, known] of this.#before) if (!this.#after.has(key)) this.#after.set(key, known);
    const gone = [...this.#before.keys()]
      .filter((key) => !this.#after.has(key))
      .map((key) => ({ type: 'Deleted', key, object: undefined }) as const);
    this.#adopt(this.#after);
    return [...gone, ...this.#replaced, ...this.#changed];
  }
}

function versionOf(object: KubeObject): Known {
  return { uid: object.metadata.uid, resourceVersion: object.metadata.resourceVersion };
}

/** Whether an event repeats or precedes the known state, as events do after a reconnect. */
function isOutdated(seen: Known, known: Known, change: 'Added' | 'Modified' | 'Deleted'): boolean {
  if (seen.resourceVersion === undefined || known.resourceVersion === undefined) return false;
  if (isOlderVersion(seen.resourceVersion, known.resourceVersion)) return true;
  // Some servers report a deletion under the version of the last change, so only other events can be repetitions.
  return change !== 'Deleted' && seen.uid === known.uid && seen.resourceVersion === known.resourceVersion;
}
