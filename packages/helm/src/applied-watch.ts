// Watches the objects of all releases for drift. Callers subscribe to the objects of a release by kind and
// namespace; subscribers of the same collection share one metadata watch, selected by the label that all
// applied objects carry. If the watch cannot be started, for example for want of permission, subscribers are
// notified and it is retried.

import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { jittered } from '@addon-operator/concurrency/jitter';
import type { ApiResource, KubeObject, ObjectMeta } from '@addon-operator/kube-client/kube-object';
import type { ReflectorEvent, Selection, SharedReflectors } from '@addon-operator/kube-client/reflector-sink';

/** A subscriber to some objects of a collection. */
export interface Follower {
  readonly names: ReadonlySet<string>;
  /** Called with the state when it is known, and after each change; without metadata the object is gone, or lost our labels. */
  readonly onChange: (name: string, metadata: ObjectMeta | undefined) => void;
  /** The watch could not be started and is retried; changes are not reported until then. */
  readonly onUnwatched: (error: unknown) => void;
}

interface AppliedWatchDeps {
  readonly reflectors: SharedReflectors;
  readonly clock: SteadyClock;
  /** A number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
  readonly log: Logger;
  /** The label that all objects of all releases carry. */
  readonly labelSelector: string;
}

interface Collection {
  readonly followers: Set<Follower>;
  readonly stop: AbortController;
  state: Map<string, ObjectMeta>;
  isKnown: boolean;
  /** Why the watch could not be begun; undefined while that is not so. */
  failure: unknown;
}

/** Doubled with each failure up to LONGEST_RETRY_MS: a missing permission is not granted within seconds. */
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 300_000;

/**
 * Watches the metadata of what was applied: one watch for each kind and namespace, whatever the number of modules that
 * have objects there, as long as there is a subscriber.
 */
export class AppliedWatch {
  readonly #deps: AppliedWatchDeps;
  readonly #collections = new Map<string, Collection>();

  constructor(deps: AppliedWatchDeps) {
    this.#deps = deps;
  }

  /** Notifies a follower of its objects until the signal aborts. A watch that cannot be begun is tried again. */
  follow(
    resource: ApiResource,
    namespace: string | undefined,
    follower: Follower,
    signal: AbortSignal,
  ): void {
    if (signal.aborted) return;
    const { group, version, plural } = resource;
    const key = JSON.stringify([group, version, plural, namespace ?? '']);
    const existing = this.#collections.get(key);
    const collection = existing ?? newCollection();
    collection.followers.add(follower);
    signal.addEventListener('abort', () => this.#leave(key, collection, follower), { once: true });
    if (existing === undefined) {
      this.#collections.set(key, collection);
      const { labelSelector } = this.#deps;
      const selection = { resource, labelSelector, isMetadataOnly: true, ...(namespace && { namespace }) };
      this.#watch(selection, collection).catch((error: unknown) => {
        this.#deps.log.error({ kind: resource.kind, namespace, error }, 'watch of applied objects failed');
      });
    } else if (collection.isKnown) {
      for (const name of follower.names) follower.onChange(name, collection.state.get(name));
    } else if (collection.failure !== undefined) follower.onUnwatched(collection.failure);
  }

  /** The last subscriber ends the watch. */
  #leave(key: string, collection: Collection, follower: Follower): void {
    collection.followers.delete(follower);
    if (collection.followers.size > 0) return;
    collection.stop.abort();
    if (this.#collections.get(key) === collection) this.#collections.delete(key);
  }

  /** Subscribes until it succeeds; from then on the reflector retries by itself. */
  async #watch(selection: Selection, collection: Collection): Promise<void> {
    const { reflectors, clock, random, log } = this.#deps;
    const { signal } = collection.stop;
    for (let meanMs = FIRST_RETRY_MS; ; meanMs = Math.min(LONGEST_RETRY_MS, meanMs * 2)) {
      const delayMs = jittered(meanMs, random);
      try {
        await reflectors.subscribe(selection, sinkOf(collection), signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const { resource, namespace } = selection;
        log.warn({ kind: resource.kind, namespace, delayMs, error }, 'cannot watch for drift, will retry');
        collection.failure = error;
        for (const { onUnwatched } of collection.followers) onUnwatched(error);
      }
      try {
        await clock.sleep(delayMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
    }
  }
}

function newCollection(): Collection {
  return {
    followers: new Set(),
    stop: new AbortController(),
    state: new Map(),
    isKnown: false,
    failure: undefined,
  };
}

/** Keeps the metadata of the collection and notifies the followers that have an object of this name. */
function sinkOf(collection: Collection) {
  let staged = new Map<string, ObjectMeta>();
  const notify = (name: string): void => {
    for (const { names, onChange } of collection.followers)
      if (names.has(name)) onChange(name, collection.state.get(name));
  };
  return {
    stage: async (objects: readonly KubeObject[]) => {
      for (const { metadata } of objects) staged.set(metadata.name, metadata);
      return await Promise.resolve();
    },
    discard: () => staged.clear(),
    commit: () => {
      collection.state = staged;
      staged = new Map();
      collection.isKnown = true;
      collection.failure = undefined;
      for (const name of new Set([...collection.followers].flatMap(({ names }) => [...names]))) notify(name);
    },
    apply: async (event: ReflectorEvent) => {
      const name = event.key.slice(event.key.indexOf('/') + 1);
      if (event.type === 'Deleted') collection.state.delete(name);
      else collection.state.set(name, event.object.metadata);
      notify(name);
      return await Promise.resolve();
    },
  };
}
