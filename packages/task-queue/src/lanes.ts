import { Places } from './places.ts';

/** The lanes of one queue that have tasks. */
interface LaneGroup {
  readonly places: Places;
  count: number;
}

/**
 * The lanes of all queues of a set. A queue with keys has a lane for each key that has tasks: a queue of its own, which runs a
 * task when the lane gets one of the places that all lanes of the queue share.
 */
export class Lanes {
  readonly #groups = new Map<string, LaneGroup>();
  #lastId = 0;

  /**
   * Creates the lane of a key that has none.
   *
   * @param parallel how many lanes of the queue run a task at a time
   * @param onEmpty called when the lane has no task left
   */
  open(queue: string, key: string, parallel: number, onEmpty: () => void): Lane {
    const group = this.#groups.get(queue) ?? { places: new Places(parallel), count: 0 };
    this.#groups.set(queue, group);
    group.places.limit = parallel;
    group.count += 1;
    const end = (): void => {
      onEmpty();
      group.count -= 1;
      if (group.count === 0) this.#groups.delete(queue);
    };
    return new Lane({ queue, key, places: group.places, nextId: () => this.#nextId(), end });
  }

  /** Changes how many lanes of a queue run a task at a time. */
  setLimit(queue: string, parallel: number): void {
    const group = this.#groups.get(queue);
    if (group !== undefined) group.places.limit = parallel;
  }

  /** Ends the waits of all lanes: none of them gets a place any more. */
  close(): void {
    for (const { places } of this.#groups.values()) places.close();
  }

  /** A lane that is created again for its key must not repeat ids. */
  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

interface LaneOptions {
  readonly queue: string;
  readonly key: string;
  readonly places: Places;
  readonly nextId: () => number;
  readonly end: () => void;
}

/** The place of a queue among several, each for the tasks of one key. */
export class Lane {
  /** Name of all these queues together. */
  readonly queue: string;
  readonly key: string;
  /** Ids of tasks, unique among all lanes. */
  readonly nextId: () => number;
  /** To be called when no task is left; the worker ends then. */
  readonly end: () => void;
  readonly #places: Places;

  constructor({ queue, key, places, nextId, end }: LaneOptions) {
    this.queue = queue;
    this.key = key;
    this.nextId = nextId;
    this.end = end;
    this.#places = places;
  }

  /** Calls `listener` when lanes get no more places. @returns a function that removes the listener */
  onClose(listener: () => void): () => void {
    return this.#places.onClose(listener);
  }

  /**
   * Waits for a place, then attempts a task. The place is free again when the handler ends, before the queue waits for anything,
   * so that a task that failed keeps only its own key waiting. Nothing is attempted if the lanes are closed.
   */
  async inTurn<Attempt extends readonly unknown[], Result>(
    handle: (...attempt: Attempt) => Promise<Result>,
    attempt: (handle: (...attempt: Attempt) => Promise<Result>) => Promise<void>,
  ): Promise<void> {
    const release = await this.#places.take();
    if (release === undefined) return;
    try {
      await attempt(async (...given) => {
        try {
          return await handle(...given);
        } finally {
          release();
        }
      });
    } finally {
      release();
    }
  }
}
