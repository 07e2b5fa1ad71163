import { setImmediate } from 'node:timers/promises';
import type { KubernetesEvent } from '../../hooks/kubernetes-binding.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import { keyOf, type ReflectorEvent, type ReflectorSink } from '../../kube/reflector-sink.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { ObjectFilter } from './object-filter.ts';
import { isSameState, type ObjectStore, type StoredObject, toStoredObject } from './object-store.ts';
import type { OperationCounter } from './snapshot-operations.ts';

/** Objects given to the filter in one turn of the event loop. */
const OBJECTS_A_TURN = 100;

export interface SelectionSinkOptions {
  readonly store: ObjectStore;
  readonly operations: OperationCounter;
  readonly filter: ObjectFilter;
  readonly emit: (event: KubernetesEvent) => void;
  /** Whether the objects of the initial state are emitted as Added. */
  readonly isAnnounced: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onHandled?: (durationMs: number) => void;
}

/** Brings what one reflector tells into the store of a binding, and emits what changed for the hook. */
export class SelectionSink implements ReflectorSink {
  readonly #options: SelectionSinkOptions;
  /** Once it aborts, nothing reaches the store any more. */
  readonly #signal: AbortSignal;
  #staged: (readonly [key: string, stored: StoredObject])[] = [];

  constructor(options: SelectionSinkOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async stage(objects: readonly KubeObject[]): Promise<void> {
    const storing: Promise<readonly [key: string, stored: StoredObject]>[] = [];
    for (const [index, object] of objects.entries()) {
      // A page is long enough to keep everything else waiting.
      if (index > 0 && index % OBJECTS_A_TURN === 0) await setImmediate();
      const stored = this.#toStored(object).then((value) => [keyOf(object), value] as const);
      // It may fail during a pause; whoever awaits all sees the failure all the same.
      stored.catch(() => undefined);
      storing.push(stored);
    }
    this.#staged.push(...(await Promise.all(storing)));
  }

  discard(): void {
    this.#staged = [];
  }

  commit(): void {
    const { store, operations, emit, isAnnounced } = this.#options;
    const staged = this.#staged;
    this.#staged = [];
    if (this.#signal.aborted) return;
    for (const [key, stored] of staged) store.set(key, stored);
    if (!isAnnounced) return;
    operations.note('added', staged.length);
    for (const { item } of store.sorted(staged.map(([, stored]) => stored))) {
      emit({ watchEvent: 'Added', item });
    }
  }

  async apply(event: ReflectorEvent): Promise<void> {
    const { clock, log, onHandled } = this.#options;
    const startedMs = clock.now();
    try {
      await this.#apply(event);
    } catch (error) {
      if (!this.#signal.aborted) log.error({ object: event.key, error }, 'event dropped, filter failed');
    }
    onHandled?.(clock.now() - startedMs);
  }

  async #apply(event: ReflectorEvent): Promise<void> {
    const { store, operations, emit } = this.#options;
    const after = event.object === undefined ? undefined : await this.#toStored(event.object);
    if (this.#signal.aborted) return;
    const before = store.get(event.key);
    if (event.type === 'Deleted') {
      const last = after ?? before;
      store.delete(event.key);
      operations.note('deleted');
      if (last !== undefined) emit({ watchEvent: 'Deleted', item: last.item });
    } else if (after !== undefined) {
      store.set(event.key, after);
      operations.note(before === undefined ? 'added' : 'modified');
      if (before === undefined || !isSameState(before, after)) {
        emit({ watchEvent: event.type, item: after.item });
      }
    }
  }

  async #toStored(object: KubeObject): Promise<StoredObject> {
    return toStoredObject(object, await this.#options.filter(object, this.#signal));
  }
}
