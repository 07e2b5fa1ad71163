import type { KubeObject } from './kube-object.ts';
import type { ReflectorEvent, ReflectorSink } from './reflector-sink.ts';

interface Subscriber {
  readonly sink: ReflectorSink;
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Subscribers of one reflector: those that wait for their first state, and those that have it. Bindings that select the same
 * objects subscribe to the same reflector, so there is one watch for all of them.
 */
export class ReflectorSubscribers {
  readonly #waiting = new Set<Subscriber>();
  readonly #live = new Set<Subscriber>();
  readonly #onError: (event: ReflectorEvent, error: unknown) => void;
  #onJoin: () => void = () => undefined;

  /** @param onError called with what a sink threw on an event */
  constructor(onError: (event: ReflectorEvent, error: unknown) => void) {
    this.#onError = onError;
  }

  /** Whether the reflector has no reason to run. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#live.size === 0;
  }

  /** Whether a list is wanted. */
  get hasNewcomers(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether changes have to be computed at all. */
  get hasLive(): boolean {
    return this.#live.size > 0;
  }

  /** Calls back once when a subscriber waits for its first state; at once if one does already. */
  whenJoined(callback: () => void): void {
    this.#onJoin = callback;
    if (this.hasNewcomers) callback();
  }

  /**
   * Adds a subscriber; resolves when it has the whole state.
   *
   * @param onLeave called once the subscriber is gone: its signal aborted or its first list failed
   * @throws see `SharedReflectors.subscribe`
   */
  async join(sink: ReflectorSink, signal: AbortSignal, onLeave: () => void): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const subscriber: Subscriber = { sink, signal, resolve, reject };
    const leave = (): void => {
      signal.removeEventListener('abort', leave);
      this.#waiting.delete(subscriber);
      this.#live.delete(subscriber);
      reject(signal.reason);
      onLeave();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.add(subscriber);
    this.#onJoin();
    try {
      await promise;
    } catch (error) {
      if (!signal.aborted) leave();
      throw error;
    }
  }

  /** All subscribers that wait now, to be served from one list. Later ones need another list. */
  takeNewcomers(): Newcomers {
    return new Newcomers([...this.#waiting], this.#waiting, this.#live);
  }

  /** The sinks that have a state. */
  get live(): readonly ReflectorSink[] {
    return [...this.#live].map(({ sink }) => sink);
  }

  /** Calls every sink that has a state. */
  notify(call: (sink: ReflectorSink) => void): void {
    for (const { sink } of this.#live) call(sink);
  }

  /** Delivers events, one after the other, to all subscribers that have a state at the time of the call. */
  async deliver(events: readonly ReflectorEvent[]): Promise<void> {
    const subscribers = [...this.#live];
    for (const event of events) {
      await Promise.all(subscribers.map((subscriber) => this.#apply(subscriber, event)));
    }
  }

  /** A sink that throws loses this event only; other sinks and later events are not affected. */
  async #apply({ sink, signal }: Subscriber, event: ReflectorEvent): Promise<void> {
    if (signal.aborted) return;
    try {
      await sink.apply(event);
    } catch (error) {
      this.#onError(event, error);
    }
  }
}

/** Subscribers that get their first state from one list. */
class Newcomers {
  readonly #all: readonly Subscriber[];
  /** Shared with {@link ReflectorSubscribers}: a newcomer that leaves or is refused is removed from it. */
  readonly #waiting: Set<Subscriber>;
  readonly #live: Set<Subscriber>;

  constructor(all: readonly Subscriber[], waiting: Set<Subscriber>, live: Set<Subscriber>) {
    this.#all = all;
    this.#waiting = waiting;
    this.#live = live;
  }

  get #present(): readonly Subscriber[] {
    return this.#all.filter((subscriber) => this.#waiting.has(subscriber));
  }

  /** Hands a page to all subscribers; one that cannot take it is refused. */
  async stage(objects: readonly KubeObject[]): Promise<void> {
    const staging = this.#present.map(async (subscriber) => {
      try {
        await subscriber.sink.stage(objects);
      } catch (error) {
        this.#refuse(subscriber, error);
      }
    });
    await Promise.all(staging);
  }

  /** The list starts again: what was staged is void. */
  discard(): void {
    for (const { sink } of this.#present) sink.discard();
  }

  /** The list failed: fails the subscription of each newcomer. */
  refuse(error: unknown): void {
    for (const subscriber of this.#present) this.#refuse(subscriber, error);
  }

  /** The list is complete: from now on these subscribers receive changes. */
  admit(): void {
    for (const subscriber of this.#present) {
      this.#waiting.delete(subscriber);
      this.#live.add(subscriber);
      subscriber.sink.commit();
      subscriber.resolve();
    }
  }

  #refuse(subscriber: Subscriber, error: unknown): void {
    this.#waiting.delete(subscriber);
    subscriber.reject(error);
  }
}
