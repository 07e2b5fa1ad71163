import type { ConfigVersion, KubernetesBinding } from '../hook-config/hook-config.ts';
import type { KubernetesEvent } from '../hook-config/kubernetes-binding.ts';

/** An event that waits for a hook. */
export interface WaitingEvent {
  readonly event: KubernetesEvent;
  /** The same for all events of one binding of one hook. */
  readonly binding: object;
  readonly module: string;
  readonly hook: string;
}

/** Where events wait. */
export interface EventHolder {
  /** Rows of events in the order in which they will reach their hooks; those of a run in progress are left out. */
  rows(): readonly (readonly WaitingEvent[])[];
  drop(events: ReadonlySet<KubernetesEvent>): void;
}

interface EventBacklogOptions {
  readonly limitBytes: number;
  /** The limit is exceeded: older states were dropped, or there are none. Called again once it was below half of the limit. */
  readonly onLimit: (facts: { readonly waitingBytes: number; readonly limitBytes: number }) => void;
  readonly onDrop: (labels: Pick<WaitingEvent, 'module' | 'hook'>, events: number) => void;
}

interface EventFacts {
  readonly bytes: number;
  /** Events have the order in which they began to wait. */
  readonly number: number;
}

/** An event behind which a newer one of the same object and binding waits. */
interface SupersededEvent {
  readonly waiting: WaitingEvent;
  readonly facts: EventFacts;
}

/** Of an event besides its object: its task and its place in a queue. */
const BYTES_AN_EVENT = 512;

/**
 * Bounds the events that hooks have not finished with: those in queues, behind locked bindings, and of runs in progress.
 * Beyond the limit the oldest states of objects are dropped for which the same binding has a newer one waiting. The last
 * state of an object is never dropped, and neither is what a run in progress was given, since the run may fail. Both
 * may exceed the limit; nothing waits for room.
 *
 * The count is a running one: holders report each event that comes and leaves. Only what to drop is searched for.
 */
export class EventBacklog {
  readonly #options: EventBacklogOptions;
  readonly #holders = new Set<EventHolder>();
  readonly #known = new WeakMap<KubernetesEvent, EventFacts>();
  #lastNumber = 0;
  #heldBytes = 0;
  /** A search takes as long as there are events: not each event beyond the limit may cause one. */
  #searchBytes: number;
  #isReported = false;

  constructor(options: EventBacklogOptions) {
    this.#options = options;
    this.#searchBytes = options.limitBytes;
  }

  hold(holder: EventHolder): void {
    this.#holders.add(holder);
  }

  release(holder: EventHolder): void {
    this.#holders.delete(holder);
  }

  /** Approximate memory of the waiting events, in bytes. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Approximate memory of the events of one list, in bytes. */
  bytesOf(events: readonly KubernetesEvent[]): number {
    let bytes = 0;
    for (const event of events) bytes += this.#factsOf(event).bytes;
    return bytes;
  }

  /** To be called by a holder whose events take so much more now, or less where it is negative. Drops nothing. */
  change(bytes: number): void {
    this.#heldBytes += bytes;
    this.#searchBytes = Math.max(
      this.#options.limitBytes,
      Math.min(this.#searchBytes, this.#heldBytes + this.#stepBytes),
    );
    if (this.#heldBytes < this.#options.limitBytes / 2) this.#isReported = false;
  }

  /** To be called after events have come: drops superseded ones when there are too many. Calls holders. */
  relieve(): void {
    if (this.#heldBytes <= this.#searchBytes) return;
    const { limitBytes, onLimit } = this.#options;
    const waitingBytes = this.#heldBytes;
    this.#dropOldest(waitingBytes - (limitBytes * 3) / 4);
    this.#searchBytes = Math.max(limitBytes, this.#heldBytes + this.#stepBytes);
    if (this.#isReported) return;
    this.#isReported = true;
    onLimit({ waitingBytes, limitBytes });
  }

  get #stepBytes(): number {
    return Math.max(this.#options.limitBytes, this.#heldBytes) / 16;
  }

  #dropOldest(wantedBytes: number): void {
    const dropped = new Set<KubernetesEvent>();
    const counts = new Map<string, { readonly of: WaitingEvent; events: number }>();
    let bytes = 0;
    for (const { waiting, facts } of this.#superseded()) {
      if (bytes >= wantedBytes) break;
      bytes += facts.bytes;
      dropped.add(waiting.event);
      const owner = `${waiting.module}/${waiting.hook}`;
      const count = counts.get(owner) ?? { of: waiting, events: 0 };
      count.events += 1;
      counts.set(owner, count);
    }
    if (dropped.size > 0) for (const holder of this.#holders) holder.drop(dropped);
    for (const { of, events } of counts.values()) this.#options.onDrop(of, events);
  }

  /** Oldest first. */
  #superseded(): readonly SupersededEvent[] {
    const superseded: SupersededEvent[] = [];
    for (const row of [...this.#holders].flatMap((holder) => holder.rows())) {
      const newer = new Map<object, Set<string>>();
      for (const waiting of row.toReversed()) {
        const keys = newer.get(waiting.binding) ?? new Set<string>();
        if (keys.size === 0) newer.set(waiting.binding, keys);
        if (keys.has(waiting.event.key)) superseded.push({ waiting, facts: this.#factsOf(waiting.event) });
        else keys.add(waiting.event.key);
      }
    }
    return superseded.sort((a, b) => a.facts.number - b.facts.number);
  }

  #factsOf(event: KubernetesEvent): EventFacts {
    const known = this.#known.get(event);
    if (known !== undefined) return known;
    this.#lastNumber += 1;
    const facts = { bytes: BYTES_AN_EVENT + heapBytes(event.item), number: this.#lastNumber };
    this.#known.set(event, facts);
    return facts;
  }
}

/** About the memory that a value of JSON takes. */
function heapBytes(value: unknown): number {
  const left: unknown[] = [value];
  let bytes = 0;
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') bytes += 16 + next.length;
    else if (typeof next !== 'object' || next === null) bytes += 8;
    else {
      const members = Object.values(next);
      bytes += 24 + 16 * members.length;
      for (const member of members) left.push(member);
    }
  }
  return bytes;
}

/**
 * The part of an event that the context of a hook contains: nothing of the object for a group, which gets snapshots, and its
 * names for a hook of the old format. The rest of the object need not be kept while the event waits.
 */
export function reduceEvent(
  event: KubernetesEvent,
  version: ConfigVersion,
  { group }: Pick<KubernetesBinding, 'group'>,
): KubernetesEvent {
  if (version === 'v0') return { ...event, item: namesOf(event.item) };
  return group === undefined ? event : { ...event, item: {} };
}

function namesOf({ object }: KubernetesEvent['item']): KubernetesEvent['item'] {
  if (object === undefined) return {};
  const { kind, metadata } = object;
  const { name, namespace } = metadata;
  const names = { name, ...(namespace !== undefined && { namespace }) };
  return { object: { ...(kind !== undefined && { kind }), metadata: names } };
}
