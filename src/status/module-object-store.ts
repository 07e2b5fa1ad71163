/**
 * The cache of Module objects: an informer store that also accepts the responses to our own writes. A response that is
 * older than what the watch delivered is ignored.
 */

import { isOlderVersion, type KubeObject } from '@addon-operator/kube-client/kube-object';
import type { ReflectorEvent, ReflectorSink } from '@addon-operator/kube-client/reflector-sink';
import { type ModuleObject, readModuleObject } from './module-object.ts';

/** A Module appeared, changed, or went: then `after` is undefined. */
export type ModuleObjectListener = (
  name: string,
  before: ModuleObject | undefined,
  after: ModuleObject | undefined,
) => void;

/** The Modules of the cluster for all readers, such as the one of annotations that request an operation. */
export interface ModuleObjectsView {
  get(name: string): ModuleObject | undefined;
  /** Of all operators. */
  readonly all: readonly ModuleObject[];
  /** Notifies of every change by any client from now on; the returned function unsubscribes. */
  onChange(listener: ModuleObjectListener): () => void;
}

/** The Modules of the cluster, kept up to date by one watch. */
export class ModuleObjectStore implements ModuleObjectsView, ReflectorSink {
  readonly #objects = new Map<string, ModuleObject>();
  readonly #listeners = new Set<ModuleObjectListener>();
  /** By name, the uid of the object that was deleted last. */
  readonly #deleted = new Map<string, string>();
  #staged: readonly ModuleObject[] = [];

  get(name: string): ModuleObject | undefined {
    return this.#objects.get(name);
  }

  get all(): readonly ModuleObject[] {
    return [...this.#objects.values()];
  }

  onChange(listener: ModuleObjectListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Takes what the API server returned for a write, which the watch brings only later, and returns the newest state. When the
   * watch was faster and has brought a later state or the deletion, the response changes nothing.
   */
  put(object: KubeObject): ModuleObject {
    const after = readModuleObject(object);
    const before = this.#objects.get(after.name);
    if (this.#deleted.get(after.name) === after.uid) return after;
    const isOlder =
      before?.uid === after.uid && isOlderVersion(after.resourceVersion, before.resourceVersion);
    if (isOlder) return before;
    this.#objects.set(after.name, after);
    this.#notify(after.name, before, after);
    return after;
  }

  async stage(objects: readonly KubeObject[]): Promise<void> {
    this.#staged = [...this.#staged, ...objects.map(readModuleObject)];
  }

  discard(): void {
    this.#staged = [];
  }

  commit(): void {
    // A list is complete and newer than all deletions known before.
    this.#deleted.clear();
    for (const object of this.#staged) {
      this.#objects.set(object.name, object);
      this.#notify(object.name, undefined, object);
    }
    this.#staged = [];
  }

  async apply(event: ReflectorEvent): Promise<void> {
    if (event.type !== 'Deleted') {
      this.put(event.object);
      return;
    }
    // Cluster-scoped: the key is a slash and the name.
    const name = event.key.slice(1);
    const before = this.#objects.get(name);
    if (before === undefined) return;
    this.#objects.delete(name);
    this.#deleted.set(name, before.uid);
    this.#notify(name, before, undefined);
  }

  #notify(name: string, before: ModuleObject | undefined, after: ModuleObject | undefined): void {
    if (before !== undefined && before.resourceVersion === after?.resourceVersion) return;
    for (const listener of this.#listeners) listener(name, before, after);
  }
}
