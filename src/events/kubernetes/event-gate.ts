/**
 * Holds events of one binding while its hook has not yet seen the snapshot. `monitor.ts` shuts it before a Synchronization
 * and opens it after. It has three states: shut (events are held, or ignored if the snapshot is still to be read), open
 * (events pass), closed for ever. Held events count towards the backlog, which drops superseded ones if memory gets tight.
 */

import type { KubernetesEvent } from '../../hook-config/kubernetes-binding.ts';
import type { EventBacklog, EventHolder } from '../../hooks/event-backlog.ts';

export interface EventGateOptions {
  readonly emit: (event: KubernetesEvent) => void;
  /**
   * Whether the snapshot is read before the gate is opened, as the run for a Synchronization does: events before that
   * are not held at all, since the snapshot says the same.
   */
  readonly isReadFirst: boolean;
  /** Bounds the events that are held; default: nothing. */
  readonly backlog?: Pick<EventBacklog, 'bytesOf' | 'change' | 'relieve' | 'hold' | 'release'>;
  readonly owner?: { readonly module: string; readonly hook: string };
}

/**
 * Holds events back until it is opened. While it is shut, taking a snapshot makes the held ones superfluous: a hook that reads
 * the state gets exactly the events that are newer.
 */
export class EventGate {
  readonly #options: EventGateOptions;
  readonly #holder: EventHolder;
  #held: KubernetesEvent[] | undefined = [];
  #isRead = false;
  #isClosed = false;

  constructor(options: EventGateOptions) {
    this.#options = options;
    this.#holder = {
      rows: () => [
        this.held.map((event) => ({ event, binding: this, module: '', hook: '', ...options.owner })),
      ],
      drop: (events) => this.#drop(events),
    };
    options.backlog?.hold(this.#holder);
  }

  get held(): readonly KubernetesEvent[] {
    return this.#held ?? [];
  }

  pass(event: KubernetesEvent): void {
    if (this.#held === undefined) {
      this.#options.emit(event);
      return;
    }
    if (this.#isClosed || (this.#options.isReadFirst && !this.#isRead)) return;
    this.#held.push(event);
    this.#count([], [event]);
    this.#options.backlog?.relieve();
  }

  /** Drops the held events; no effect once open. */
  drop(): void {
    if (this.#held === undefined) return;
    this.#hold([]);
    this.#isRead = true;
  }

  /** Holds events back again. Those that were emitted and reached no hook come first when it is opened. */
  shut(missed: readonly KubernetesEvent[]): void {
    if (this.#isClosed) return;
    this.#isRead = false;
    this.#hold(this.#options.isReadFirst ? [] : [...missed, ...this.held]);
  }

  /** Emits the held events in order, and from now on every event at once. */
  open(): void {
    const { held } = this;
    if (this.#isClosed) return;
    this.#hold(undefined);
    for (const event of held) this.#options.emit(event);
  }

  /** Drops the held events and every later one. */
  close(): void {
    this.#hold([]);
    this.#isClosed = true;
    this.#options.backlog?.release(this.#holder);
  }

  #drop(events: ReadonlySet<KubernetesEvent>): void {
    if (this.#held !== undefined) this.#hold(this.#held.filter((event) => !events.has(event)));
  }

  #hold(events: KubernetesEvent[] | undefined): void {
    const left = this.held;
    this.#held = events;
    this.#count(left, this.held);
  }

  #count(left: readonly KubernetesEvent[], came: readonly KubernetesEvent[]): void {
    const { backlog } = this.#options;
    backlog?.change(backlog.bytesOf(came) - backlog.bytesOf(left));
  }
}
