import type { QueueEntry, TaskQueue } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { moduleOf, type Task } from './tasks.ts';

/** The position of a task of a module in a queue. */
export interface Place {
  readonly queue: TaskQueue<Task>;
  readonly entry: QueueEntry<Task>;
  /** 0 for the task that runs or comes up next. */
  readonly index: number;
  /** The entry at index 0. */
  readonly head: QueueEntry<Task>;
}

/** The tasks of each module in all queues, in the order of queues. */
export type PlacesByModule = ReadonlyMap<string, readonly Place[]>;

/**
 * Reads all queues once. A description of many modules calls it once: a converge queues tasks for
 * each of them, and reading the queues for each module again takes quadratic time.
 */
export function placesByModule(operator: { readonly queues: QueueSet<Task> }): PlacesByModule {
  const places = new Map<string, Place[]>();
  for (const queue of operator.queues.all) {
    const entries = queue.entriesFromRunning;
    const [head] = entries;
    if (head === undefined) continue;
    // There may be thousands of tasks, and the page polls: no intermediate arrays here.
    let index = 0;
    for (const entry of entries) {
      const place = { queue, entry, index, head };
      const { task } = entry;
      if (task.type !== 'ParallelModuleRun') add(places, moduleOf(task), place);
      else for (const name of task.runs.pending) add(places, name, place);
      index += 1;
    }
  }
  return places;
}

function add(places: Map<string, Place[]>, module: string, place: Place): void {
  const known = places.get(module);
  if (known !== undefined) known.push(place);
  else if (module !== '') places.set(module, [place]);
}
