import type { Clock } from '@addon-operator/base/clock';
import { laneName } from './lane-name.ts';
import { type Lane, Lanes } from './lanes.ts';
import type {
  QueueAction,
  QueueEntry,
  QueuePlace,
  QueueSignals,
  TaskFailure,
  TaskQueueOptions,
} from './queue-types.ts';
import { type TaskHandler, TaskQueue } from './task-queue.ts';

export interface QueueSetOptions<T> {
  readonly clock: Clock;
  /** A number in [0, 1), for the jitter of retry delays. */
  readonly random: () => number;
  readonly onFailure?: (queue: string, entry: QueueEntry<T>, failure: TaskFailure) => void;
  /** Measures what is done to the queues; without it nothing is measured. */
  readonly measure?: <R>(queue: string, action: QueueAction, act: () => R) => R;
  readonly admit?: NonNullable<TaskQueueOptions<T>['admit']>;
  readonly onAdd?: (queue: TaskQueue<T>, place: QueuePlace, entries: readonly QueueEntry<T>[]) => void;
  readonly onChange?: NonNullable<TaskQueueOptions<T>['onChange']>;
  /** Receives what one of the functions above threw; the queue goes on. */
  readonly onError?: (queue: string, error: unknown) => void;
}

/**
 * The named queues, each with its own worker; a queue is created when it is first used, and stays. A queue for a key exists
 * only while it has tasks. What a task means is known to the handler alone, which the worker of a queue (`task-queue.ts`)
 * calls for each attempt.
 */
export class QueueSet<T> {
  readonly #options: QueueSetOptions<T>;
  readonly #queues = new Map<string, TaskQueue<T>>();
  readonly #workers = new Set<Promise<void>>();
  readonly #lanes = new Lanes();
  #work: ((queue: TaskQueue<T>) => void) | undefined;

  constructor(options: QueueSetOptions<T>) {
    this.#options = options;
  }

  /** All queues: `main` first, the others by name. */
  get all(): readonly TaskQueue<T>[] {
    return [...this.#queues.values()].toSorted(
      (a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1),
    );
  }

  /** A queue that was used already; undefined otherwise. */
  find(name: string): TaskQueue<T> | undefined {
    return this.#queues.get(name);
  }

  get(name: string): TaskQueue<T> {
    return this.#queues.get(name) ?? this.#create(name);
  }

  /**
   * The queue for the tasks of one key. Tasks of a key run one after another, and at most `parallel` keys of a queue at a
   * time, in turn. It is removed when it is empty, so tasks must be added at once.
   */
  lane(queue: string, key: string, parallel: number): TaskQueue<T> {
    const name = laneName(queue, key);
    const known = this.#queues.get(name);
    if (known !== undefined) {
      this.#lanes.setLimit(queue, parallel);
      return known;
    }
    const onEmpty = (): void => {
      this.#queues.delete(name);
    };
    return this.#create(name, this.#lanes.open(queue, key, parallel, onEmpty));
  }

  #create(name: string, lane?: Lane): TaskQueue<T> {
    const { clock, random, onFailure, measure, admit, onAdd, onChange, onError } = this.#options;
    const queue: TaskQueue<T> = new TaskQueue<T>({
      name,
      clock,
      random,
      ...(lane && { lane }),
      onFailure: (entry, failure) => onFailure?.(name, entry, failure),
      ...(measure && { measure: (action, act) => measure(lane?.queue ?? name, action, act) }),
      ...(admit && { admit }),
      ...(onAdd && { onAdd: (place, entries) => onAdd(queue, place, entries) }),
      ...(onChange && { onChange }),
      onError: (error) => onError?.(name, error),
    });
    this.#queues.set(name, queue);
    const work = this.#work;
    if (lane === undefined) work?.(queue);
    // Its worker ends as soon as there is no task, and the caller adds the first one only after this.
    else if (work !== undefined) queueMicrotask(() => work(queue));
    return queue;
  }

  /** Starts the workers of all queues, present and future. */
  start(handle: TaskHandler<T>, signals: QueueSignals): void {
    this.#work = (queue) => {
      const worker = queue.run(handle, signals).finally(() => this.#workers.delete(worker));
      this.#workers.add(worker);
    };
    for (const queue of this.#queues.values()) this.#work(queue);
    signals.stop.addEventListener('abort', () => this.#lanes.close());
  }

  /** Resolves when every worker has ended, running tasks included. */
  async ended(): Promise<void> {
    await Promise.all(this.#workers);
  }
}

function rank(name: string): number {
  return name === 'main' ? 0 : 1;
}
