/**
 * Opens and closes the watches of one binding. Without a namespace selector there is one watch for each name; with
 * `matchNames` one for each namespace and name; with a label selector the namespaces themselves are watched, and their
 * watches come and go. A failure at the start is thrown. Later failures are retried per namespace and show in the health
 * of the binding.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { type ApiResource, isOlderVersion, type KubeObject } from '@addon-operator/kube-client/kube-object';
import type {
  ReflectorEvent,
  ReflectorSink,
  Selection,
  SharedReflectors,
} from '@addon-operator/kube-client/reflector-sink';
import { untilDone } from '@addon-operator/kube-client/retry';
import type { KubernetesBindingSpec, KubernetesEvent } from '../../hook-config/kubernetes-binding.ts';
import type { ObjectFilter } from './object-filter.ts';
import { nameOf, type ObjectStore, resourceVersionOf } from './object-store.ts';
import { SelectionSink } from './selection-sink.ts';
import { fieldSelectorQuery, labelSelectorQuery } from './selectors.ts';
import type { OperationCounter } from './snapshot-operations.ts';
import type { UnfilteredObjects } from './unfiltered-objects.ts';
import { combinedReport, WatchHealth, type WatchReport } from './watch-health.ts';

interface BindingWatchesOptions {
  readonly spec: KubernetesBindingSpec;
  readonly resource: ApiResource;
  readonly reflectors: SharedReflectors;
  readonly store: ObjectStore;
  readonly operations: OperationCounter;
  readonly filter: ObjectFilter;
  readonly unfiltered: UnfilteredObjects;
  readonly emit: (event: KubernetesEvent) => void;
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly onHandled?: (durationMs: number) => void;
}

const NAMESPACES: ApiResource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  isNamespaced: false,
  verbs: ['list', 'watch'],
};

/**
 * All watches of one binding: one for each namespace and object name it selects. Each has a `SelectionSink`, and all of them
 * share the store and the events of the monitor (`monitor.ts`) that owns them.
 */
export class BindingWatches {
  readonly #options: BindingWatchesOptions;
  readonly #signal: AbortSignal;
  /** Watched namespaces of a namespace label selector; aborting one ends its watches. */
  readonly #namespaces = new Map<string, AbortController>();
  /** Checks under way whether a namespace that left the selection matches again. */
  readonly #checks = new Map<string, AbortController>();
  /** One for each watch that is wanted. */
  readonly #health = new Set<WatchHealth>();

  /** @param signal ends all watches */
  constructor(options: BindingWatchesOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** How far the snapshot can be trusted. */
  get report(): WatchReport {
    return combinedReport([...this.#health].map(({ report }) => report));
  }

  /** Fills the store; throws what the first failing list or filter threw. */
  async start(): Promise<void> {
    const { spec, resource } = this.#options;
    // A namespace selector has no meaning for cluster-scoped kinds.
    if (!resource.isNamespaced) {
      await this.#watchObjects(undefined, this.#signal);
    } else if (spec.namespace?.labelSelector !== undefined) {
      await this.#watchLabelledNamespaces();
    } else {
      const names = new Set(spec.namespace?.nameSelector);
      const namespaces = names.size === 0 ? [undefined] : [...names];
      await Promise.all(namespaces.map((namespace) => this.#watchObjects(namespace, this.#signal)));
    }
  }

  async #watchLabelledNamespaces(): Promise<void> {
    const initial = Promise.withResolvers<unknown>();
    const sink = new NamespaceSink({
      // Not awaited in the sink: it would block the reflector of the namespaces until all objects are listed.
      onInitial: (names) => {
        Promise.all(names.map((name) => this.#openInitial(name))).then(initial.resolve, initial.reject);
      },
      onAppear: (name) => this.#open(name),
      onVanish: (name, version) => this.#leave(name, version),
      health: this.#trackHealth(this.#signal),
    });
    const subscribed = this.#options.reflectors.subscribe(this.#namespaceSelection(), sink, this.#signal);
    await Promise.all([subscribed, initial.promise]);
  }

  /** The selector of namespaces, optionally for one of them. */
  #namespaceSelection(name?: string): Selection {
    const labelSelector = labelSelectorQuery(this.#options.spec.namespace?.labelSelector);
    const fieldSelector = fieldSelectorQuery([], name);
    return {
      resource: NAMESPACES,
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    };
  }

  async #openInitial(namespace: string): Promise<void> {
    const signal = this.#track(namespace);
    try {
      await this.#watchObjects(namespace, signal);
    } catch (error) {
      // The namespace may vanish while its objects are listed; that is no failure.
      if (!signal.aborted || this.#signal.aborted) throw error;
    }
  }

  /** Watches a namespace that began to match later; what fails there is retried and affects no other namespace. */
  #open(namespace: string): void {
    this.#endCheck(namespace);
    // It was away for a moment only, and its watches went on.
    if (this.#namespaces.has(namespace)) return;
    const signal = this.#track(namespace);
    for (const selection of this.#selections(namespace)) {
      this.#subscribeUntilDone(selection, signal).catch(() => undefined);
    }
  }

  /** Registers a namespace; its signal ends its watches alone. */
  #track(namespace: string): AbortSignal {
    const controller = new AbortController();
    this.#namespaces.set(namespace, controller);
    return AbortSignal.any([this.#signal, controller.signal]);
  }

  /**
   * Removes a namespace that left the selection, with its objects. The watch of the namespaces may be behind those of the
   * objects: if an object is newer than the change, the namespace may match again, and a Deleted event would be wrong. Then
   * the server decides.
   *
   * @param version resource version of the change; undefined when that is not known
   */
  #leave(namespace: string, version: string | undefined): void {
    const isOver = this.#options.store
      .ofNamespace(namespace)
      .every((stored) => version !== undefined && isOlderVersion(resourceVersionOf(stored), version));
    if (isOver) this.#close(namespace);
    else this.#check(namespace).catch(() => undefined);
  }

  /** Removes a namespace unless the server lists it among those that match. While the list fails, the namespace stays. */
  async #check(namespace: string): Promise<void> {
    const { reflectors, log } = this.#options;
    this.#endCheck(namespace);
    const check = new AbortController();
    this.#checks.set(namespace, check);
    const signal = AbortSignal.any([this.#signal, check.signal]);
    const health = this.#trackHealth(signal);
    const onFailure = (error: unknown): void => {
      health.failed(error);
      log.warn({ namespace, error }, 'cannot check whether the namespace still matches, will retry');
    };
    const list = (): Promise<boolean> => hasObjects(reflectors, this.#namespaceSelection(namespace), signal);
    const isSelected = await untilDone(list, onFailure, this.#options, signal);
    if (signal.aborted) return;
    this.#endCheck(namespace);
    if (!isSelected) this.#close(namespace);
  }

  #endCheck(namespace: string): void {
    this.#checks.get(namespace)?.abort();
    this.#checks.delete(namespace);
  }

  /** Ends the watches of a namespace and emits Deleted for its objects. */
  #close(namespace: string): void {
    const { store, operations, emit } = this.#options;
    this.#endCheck(namespace);
    this.#namespaces.get(namespace)?.abort();
    this.#namespaces.delete(namespace);
    const gone = store.deleteNamespace(namespace);
    operations.note('cleaned', gone.length);
    for (const stored of gone) emit({ watchEvent: 'Deleted', key: nameOf(stored), item: stored.item });
  }

  #subscribeUntilDone(selection: Selection, signal: AbortSignal): Promise<void> {
    const { reflectors, log } = this.#options;
    const health = this.#trackHealth(signal);
    const subscribe = (): Promise<void> =>
      reflectors.subscribe(selection, this.#sink(health, signal, true), signal);
    const onFailure = (error: unknown): void => {
      health.failed(error);
      log.warn({ namespace: selection.namespace, error }, 'cannot watch namespace, will retry');
    };
    return untilDone(subscribe, onFailure, this.#options, signal);
  }

  async #watchObjects(namespace: string | undefined, signal: AbortSignal): Promise<void> {
    const { reflectors } = this.#options;
    await Promise.all(
      this.#selections(namespace).map((selection) =>
        reflectors.subscribe(selection, this.#sink(this.#trackHealth(signal), signal, false), signal),
      ),
    );
  }

  /** One selection for each object name, since a field selector can name only one. */
  #selections(namespace: string | undefined): readonly Selection[] {
    const { spec, resource } = this.#options;
    const names = new Set(spec.nameSelector);
    const labelSelector = labelSelectorQuery(spec.labelSelector);
    return (names.size === 0 ? [undefined] : [...names]).map((name) => {
      const fieldSelector = fieldSelectorQuery(spec.fieldSelector, name);
      return {
        resource,
        ...(namespace !== undefined && { namespace }),
        ...(labelSelector !== undefined && { labelSelector }),
        ...(fieldSelector !== undefined && { fieldSelector }),
      };
    });
  }

  #sink(health: WatchHealth, signal: AbortSignal, isAnnounced: boolean): SelectionSink {
    return new SelectionSink({ ...this.#options, isAnnounced }, health, signal);
  }

  /** Each watch reports its own health; the monitor shows the worst. */
  #trackHealth(signal: AbortSignal): WatchHealth {
    const health = new WatchHealth(this.#options.clock);
    this.#health.add(health);
    signal.addEventListener('abort', () => this.#health.delete(health), { once: true });
    return health;
  }
}

/** Whether the server has objects of a selection now. Throws what the list threw, or `signal.reason`. */
async function hasObjects(
  reflectors: SharedReflectors,
  selection: Selection,
  signal: AbortSignal,
): Promise<boolean> {
  const listed = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let isFound = false;
  const sink: ReflectorSink = {
    stage: async (objects) => {
      isFound ||= objects.length > 0;
    },
    discard: () => {
      isFound = false;
    },
    commit: () => {
      resolve(isFound);
      // Before the reflector begins to watch.
      listed.abort();
    },
    apply: async () => undefined,
  };
  reflectors.subscribe(selection, sink, AbortSignal.any([signal, listed.signal])).catch(reject);
  return await promise;
}

interface NamespaceSinkOptions {
  /** The namespaces of the initial state. */
  readonly onInitial: (names: readonly string[]) => void;
  readonly onAppear: (name: string) => void;
  /** The namespace was deleted, or its labels do not match any more; `version` is that of the change, where it is known. */
  readonly onVanish: (name: string, version: string | undefined) => void;
  readonly health: WatchHealth;
}

/** Reports which namespaces come and go; changes of a namespace that stays are ignored. */
class NamespaceSink implements ReflectorSink {
  readonly #options: NamespaceSinkOptions;
  #staged: string[] = [];

  constructor(options: NamespaceSinkOptions) {
    this.#options = options;
  }

  async stage(objects: readonly KubeObject[]): Promise<void> {
    this.#staged.push(...objects.map(({ metadata }) => metadata.name));
  }

  discard(): void {
    this.#staged = [];
  }

  commit(): void {
    this.#options.health.confirmed();
    this.#options.onInitial(this.#staged);
    this.#staged = [];
  }

  async apply(event: ReflectorEvent): Promise<void> {
    const name = event.key.slice(event.key.indexOf('/') + 1);
    if (event.type === 'Added') this.#options.onAppear(name);
    if (event.type === 'Deleted') this.#options.onVanish(name, event.object?.metadata.resourceVersion);
  }

  confirmed(): void {
    this.#options.health.confirmed();
  }

  failed(error: unknown): void {
    this.#options.health.failed(error);
  }
}
