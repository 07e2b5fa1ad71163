import { type Arbitrary, array, assert, asyncProperty, constant, nat, oneof, record } from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { type TaskOutcome, TaskQueue } from './task-queue.ts';

const RETRY_MS = 30_000;
const some = nat({ max: 3 });
const step = oneof(
  record({ do: constant('append' as const), count: some }),
  record({ do: constant('prepend' as const), count: some }),
  record({ do: constant('insert' as const), at: nat() }),
  record({ do: constant('remove' as const), modulo: nat({ max: 4 }) }),
  record({ do: constant('rewrite' as const), modulo: nat({ max: 4 }) }),
  record({ do: constant('combine' as const), count: some }),
  record({ do: constant('succeed' as const), after: some, tail: some }),
  record({ do: constant('retry' as const) }),
  record({ do: constant('repeat' as const), before: some }),
  record({ do: constant('wait' as const) }),
);
type Step = typeof step extends Arbitrary<infer T> ? T : never;

/** A queue whose handler does nothing until a step ends it. */
class Lab {
  readonly clock = new FakeClock();
  readonly queue: TaskQueue<number>;
  readonly stop = new AbortController();
  /** By what `onChange` reports. */
  readonly counted = new Map<number, number>();
  running: { readonly task: number; readonly end: (outcome: TaskOutcome<number>) => void } | undefined;
  #lastTask = 0;

  constructor() {
    this.queue = new TaskQueue<number>({
      name: 'q',
      clock: this.clock,
      random: () => 0,
      onChange: (left, came) => {
        for (const task of came) this.#count(task, 1);
        for (const task of left) this.#count(task, -1);
      },
    });
  }

  start(): Promise<void> {
    const handle = (entry: { readonly task: number }): Promise<TaskOutcome<number>> => {
      const { promise, resolve } = Promise.withResolvers<TaskOutcome<number>>();
      this.running = {
        get task() {
          return entry.task;
        },
        end: resolve,
      };
      return promise.finally(() => {
        this.running = undefined;
      });
    };
    return this.queue.run(handle, { stop: this.stop.signal, abort: this.stop.signal });
  }

  newTasks(count: number): readonly number[] {
    return Array.from({ length: count }, () => (this.#lastTask += 1));
  }

  /** The tasks in the queue, and the one that its handler runs. */
  held(): readonly number[] {
    const tasks = this.queue.entries.map(({ task }) => task);
    const { running } = this;
    return running === undefined || tasks.includes(running.task) ? tasks : [...tasks, running.task];
  }

  #count(task: number, by: number): void {
    const count = (this.counted.get(task) ?? 0) + by;
    if (count === 0) this.counted.delete(task);
    else this.counted.set(task, count);
  }
}

async function act(lab: Lab, what: Step): Promise<void> {
  const { queue, running } = lab;
  const head = queue.entries[0];
  switch (what.do) {
    case 'append':
      return queue.append(...lab.newTasks(what.count));
    case 'prepend':
      return queue.prepend(...lab.newTasks(what.count));
    case 'insert':
      for (const task of lab.newTasks(1)) queue.insertBefore((other) => other > what.at, task);
      return;
    case 'remove':
      queue.remove((_task, index) => index % 5 === what.modulo);
      return;
    case 'rewrite':
      return queue.rewrite((task) => {
        if (task % 5 === what.modulo) return undefined;
        return task % 2 === 0 ? lab.newTasks(1)[0] : task;
      });
    case 'combine': {
      if (running === undefined || head?.task !== running.task) return;
      const [last] = queue.takeFollowing(head, (task) => task % 5 < what.count).slice(-1);
      if (last !== undefined) queue.replaceTask(head, last);
      return;
    }
    case 'succeed':
      return running?.end({
        type: 'success',
        after: lab.newTasks(what.after),
        tail: lab.newTasks(what.tail),
      });
    case 'retry':
      return running?.end({ type: 'retry', error: 'no', delayMs: RETRY_MS });
    case 'repeat':
      return running?.end({ type: 'repeat', before: lab.newTasks(what.before) });
    case 'wait':
      await lab.clock.advance(RETRY_MS);
  }
}

test('a queue reports each task that it holds, and each that it holds no longer, once', async () => {
  await assert(
    asyncProperty(array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const lab = new Lab();
      const ended = lab.start();
      for (const what of steps) {
        await act(lab, what);
        for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        expect(lab.counted).toEqual(new Map(lab.held().map((task) => [task, 1])));
      }
      lab.stop.abort();
      lab.running?.end({ type: 'success' });
      await ended;
    }),
    { numRuns: 200 },
  );
});
