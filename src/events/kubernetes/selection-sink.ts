import { setImmediate } from 'node:timers/promises';
import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { keyOf, type ReflectorEvent, type ReflectorSink } from '@addon-operator/kube-client/reflector-sink';
import type { KubernetesEvent } from '../../hook-config/kubernetes-binding.ts';
import { isObjectFailure, type ObjectFilter } from './object-filter.ts';
import { isSameState, nameOf, type ObjectStore, type StoredObject, toStoredObject } from './object-store.ts';
import type { OperationCounter } from './snapshot-operations.ts';
import type { FilterFailure, UnfilteredObject, UnfilteredObjects } from './unfiltered-objects.ts';
import type { WatchHealth } from './watch-health.ts';

/** Objects given to the filter in one turn of the event loop: timers and requests run between the turns of a large list. */
const OBJECTS_A_TURN = 100;
/** Failures of one list that are logged each with its object. */
const MAX_LOGGED = 10;

interface SelectionSinkOptions {
  readonly store: ObjectStore;
  readonly operations: OperationCounter;
  readonly filter: ObjectFilter;
  readonly unfiltered: UnfilteredObjects;
  readonly emit: (event: KubernetesEvent) => void;
  /** Whether the objects of the initial state are emitted as Added. */
  readonly isAnnounced: boolean;
  readonly clock: SteadyClock;
  readonly log: Logger;
  readonly onHandled?: (durationMs: number) => void;
}

interface KeyedObject {
  readonly key: string;
  readonly object: KubeObject;
}

/** An object of the initial state, with what the filter made of it or why it failed. */
type Staged = { readonly key: string; readonly stored: StoredObject } | FailedObject;

interface FailedObject extends KeyedObject {
  readonly error: unknown;
}

/**
 * Brings what one reflector reports into the store of a binding, and emits what changed for the hook. It is the first file of
 * an event that knows the binding: selectors, filter and snapshot are applied here, in this order. An object whose
 * filter fails keeps its last state there and is filtered again later.
 */
export class SelectionSink implements ReflectorSink {
  readonly #options: SelectionSinkOptions;
  readonly #health: WatchHealth;
  /** Once it aborts, nothing reaches the store any more. */
  readonly #signal: AbortSignal;
  #staged: Staged[] = [];

  constructor(options: SelectionSinkOptions, health: WatchHealth, signal: AbortSignal) {
    this.#options = options;
    this.#health = health;
    this.#signal = signal;
  }

  async stage(objects: readonly KubeObject[]): Promise<void> {
    const staging: Promise<Staged>[] = [];
    for (const [index, object] of objects.entries()) {
      // A page is long enough to keep everything else waiting.
      if (index > 0 && index % OBJECTS_A_TURN === 0) await setImmediate();
      const staged = this.#stage(object);
      // It may fail during a pause; the await of all of them still throws the failure.
      staged.catch(() => undefined);
      staging.push(staged);
    }
    this.#staged.push(...(await Promise.all(staging)));
  }

  /**
   * A filter that fails on an object concerns that object alone. Without jq nothing is known of any object, and a list that
   * lacks them all must not be taken for the state.
   */
  async #stage(object: KubeObject): Promise<Staged> {
    const key = keyOf(object);
    try {
      return { key, stored: await this.#toStored(object) };
    } catch (error) {
      if (this.#signal.aborted || !isObjectFailure(error)) throw error;
      return { key, object, error };
    }
  }

  /** The list has failed on a later page, so the staged part is dropped. */
  discard(): void {
    this.#staged = [];
  }

  /** The list is complete: the staged objects become the snapshot. */
  commit(): void {
    const { store, operations, emit, isAnnounced } = this.#options;
    const staged = this.#staged;
    this.#staged = [];
    if (this.#signal.aborted) return;
    this.#health.confirmed();
    const stored = staged.flatMap((one) => ('stored' in one ? [one] : []));
    for (const { key, stored: value } of stored) store.set(key, value);
    this.#setAside(staged.flatMap((one) => ('error' in one ? [one] : [])));
    if (!isAnnounced) return;
    operations.note('added', stored.length);
    for (const one of store.sorted(stored.map((one) => one.stored)))
      emit({ watchEvent: 'Added', key: nameOf(one), item: one.item });
  }

  /** A filter that fails on all objects of a large cluster must not fill the log. */
  #setAside(failed: readonly FailedObject[]): void {
    for (const [index, one] of failed.entries()) {
      const failure = this.#markDirty(one, one.error);
      if (index < MAX_LOGGED) this.#logFailure(one, one.error, failure);
    }
    const more = failed.length - MAX_LOGGED;
    if (more > 0) this.#options.log.error({ objects: more }, 'filter failed on more objects of the list');
  }

  async apply(event: ReflectorEvent): Promise<void> {
    const { clock, unfiltered, onHandled } = this.#options;
    const startedMs = clock.steadyMs();
    const dirty = unfiltered.take(event.key);
    if (event.type === 'Deleted') this.#delete(event.key, event.object ?? dirty?.object);
    else await this.#update(event, dirty?.failure);
    onHandled?.(clock.steadyMs() - startedMs);
  }

  /** After a relist all states are current, so failed objects are tried at once. */
  relisted(): void {
    this.#options.unfiltered.retryAll();
  }

  confirmed(): void {
    this.#health.confirmed();
  }

  failed(error: unknown): void {
    this.#health.failed(error);
  }

  /** Needs no filter, which may fail: the hook gets the filter result that it knows. */
  #delete(key: string, object: KubeObject | undefined): void {
    const { store, operations, emit } = this.#options;
    const before = store.get(key);
    // An object that could never be filtered is unknown to the hook.
    if (this.#signal.aborted || before === undefined) return;
    // The previous state of the filter result is reported, with the last full object if the binding keeps objects.
    store.delete(key);
    operations.note('deleted');
    const isFull = 'object' in before.item && object !== undefined;
    emit({ watchEvent: 'Deleted', key, item: isFull ? { ...before.item, object } : before.item });
  }

  async #update({ key, object }: KeyedObject, previous: FilterFailure | undefined): Promise<void> {
    try {
      const after = await this.#toStored(object);
      if (!this.#signal.aborted) this.#adopt(key, after);
    } catch (error) {
      if (!this.#signal.aborted) this.#fail({ key, object }, error, previous);
    }
  }

  /** Stores the new state, and emits an event if the hook would see a difference. */
  #adopt(key: string, after: StoredObject): void {
    const { store, operations, emit } = this.#options;
    const before = store.get(key);
    store.set(key, after);
    operations.note(before === undefined ? 'added' : 'modified');
    if (before === undefined) emit({ watchEvent: 'Added', key, item: after.item });
    else if (!isSameState(before, after)) emit({ watchEvent: 'Modified', key, item: after.item });
  }

  #fail(object: KeyedObject, error: unknown, previous: FilterFailure | undefined): void {
    this.#logFailure(object, error, this.#markDirty(object, error, previous));
  }

  /** Registers the object for a retry, which may come from this sink only while it is alive. */
  #markDirty({ key, object }: KeyedObject, error: unknown, previous?: FilterFailure): FilterFailure {
    const retry = (entry: UnfilteredObject, isCurrent: () => boolean): Promise<void> =>
      this.#retry(entry, isCurrent);
    return this.#options.unfiltered.add({ key, object }, error, previous, retry, this.#signal).failure;
  }

  #logFailure({ key }: KeyedObject, error: unknown, { attempts }: FilterFailure): void {
    const { log, store } = this.#options;
    const message =
      store.get(key) === undefined
        ? 'filter failed, the object is left out until a retry succeeds'
        : 'filter failed, the previous state of the object is kept until a retry succeeds';
    if (attempts === 1) log.error({ object: key, error }, message);
    else log.debug({ object: key, error, attempts }, message);
  }

  async #retry({ key, object, failure }: UnfilteredObject, isCurrent: () => boolean): Promise<void> {
    const { unfiltered, log } = this.#options;
    try {
      const after = await this.#toStored(object);
      if (!isCurrent()) return;
      unfiltered.take(key);
      log.info({ object: key, attempts: failure.attempts }, 'filter succeeded again');
      this.#adopt(key, after);
    } catch (error) {
      if (isCurrent()) this.#fail({ key, object }, error, failure);
    }
  }

  async #toStored(object: KubeObject): Promise<StoredObject> {
    return toStoredObject(object, await this.#options.filter(object, this.#signal));
  }
}
