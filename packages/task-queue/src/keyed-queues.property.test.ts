import { array, assert, asyncProperty, boolean, constantFrom, integer, nat, record } from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { QueueSet } from './queue-set.ts';
import type { TaskOutcome } from './task-queue.ts';

interface Task {
  readonly key: string;
  readonly number: number;
}

/** Queues whose handler is the test's. */
class Lab implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly queues = new QueueSet<Task>({ clock: this.clock, random: () => 0 });
  readonly stop = new AbortController();

  start(handle: (task: Task) => Promise<void>, signals = this.stop.signal): void {
    const outcome = async ({ task }: { readonly task: Task }): Promise<TaskOutcome<Task>> => {
      await handle(task);
      return { type: 'success' };
    };
    this.queues.start(outcome, { stop: signals, abort: signals });
  }

  add(key: string, number = 0, parallel = 1): void {
    this.queues.lane('pods', key, parallel).append({ key, number });
  }

  /** Waits for `ms`, in steps that let tasks of different queues follow one another. */
  async pass(ms: number, times: number): Promise<void> {
    for (let round = 0; round < times; round += 1) {
      await settle();
      await this.clock.advance(ms);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort(new Error('the test ends'));
    await this.queues.ended();
  }
}

const KEYS = ['a', 'b', 'c', 'd'];
const anyTasks = array(
  record({
    key: constantFrom(...KEYS),
    durationMs: nat({ max: 50 }),
    fails: boolean(),
    pauseMs: nat({ max: 20 }),
  }),
  { minLength: 1, maxLength: 40 },
);

test('tasks of a key run in order, keys up to the bound at a time, and empty queues go, in any history', async () => {
  await assert(
    asyncProperty(anyTasks, integer({ min: 1, max: 3 }), async (given, parallel) => {
      await using lab = new Lab();
      const running = new Set<string>();
      const done = new Map<string, number[]>();
      const failed = new Set<number>();
      const wrong: string[] = [];
      lab.start(async ({ key, number }) => {
        if (running.has(key)) wrong.push(`${key} runs twice at a time`);
        running.add(key);
        if (running.size > parallel) wrong.push(`${running.size} keys run`);
        await lab.clock.sleep(given[number]?.durationMs ?? 0, lab.stop.signal);
        running.delete(key);
        if (given[number]?.fails === true && !failed.has(number)) {
          failed.add(number);
          throw new Error('once');
        }
        done.set(key, [...(done.get(key) ?? []), number]);
      });
      for (const [number, { key, pauseMs }] of given.entries()) {
        lab.add(key, number, parallel);
        await lab.pass(pauseMs, 1);
      }
      for (let round = 0; round < 400 && lab.queues.all.length > 0; round += 1) await lab.pass(1_000, 1);
      const expected = Map.groupBy([...given.entries()], ([, { key }]) => key);
      for (const [key, tasks] of expected) expect(done.get(key)).toEqual(tasks.map(([number]) => number));
      expect(wrong).toEqual([]);
      expect(lab.queues.all).toEqual([]);
    }),
    { numRuns: 60 },
  );
}, 60_000);

test('a key gets its turn before another key runs twice, however many tasks that has', async () => {
  await assert(
    asyncProperty(
      nat({ max: 30 }),
      nat({ max: 10 }),
      integer({ min: 1, max: 4 }),
      async (busy, others, parallel) => {
        await using lab = new Lab();
        const order: string[] = [];
        lab.start(async ({ key }) => {
          order.push(key);
          await lab.clock.sleep(10, lab.stop.signal);
        });
        for (let number = 0; number <= busy; number += 1) lab.add('busy', number, parallel);
        for (let other = 0; other < others; other += 1) lab.add(`other ${other}`, 0, parallel);
        await lab.pass(10, busy + others + 2);
        expect(order).toHaveLength(1 + busy + others);
        // With several places the busy key has one of them all the time.
        const turns = order.slice(0, 1 + others + Math.ceil(others / Math.max(1, parallel - 1)));
        for (let other = 0; other < others; other += 1) expect(turns).toContain(`other ${other}`);
      },
    ),
    { numRuns: 40 },
  );
});

test('a task that fails keeps only its own key waiting, and no place', async () => {
  await using lab = new Lab();
  const done: string[] = [];
  lab.start(async ({ key }) => {
    if (key === 'bad') throw new Error('always');
    done.push(key);
    await Promise.resolve();
  });
  lab.add('bad');
  await settle();
  lab.add('good');
  await settle();
  expect(done).toEqual(['good']);
  expect(lab.queues.all.map(({ name, status }) => [name, status.type])).toEqual([['pods[bad]', 'delayed']]);
});

test('a task that waits for its turn says so, and is not run when it is removed', async () => {
  await using lab = new Lab();
  const begun: string[] = [];
  lab.start(async ({ key }) => {
    begun.push(key);
    await lab.clock.sleep(10, lab.stop.signal);
  });
  for (const key of ['first', 'second', 'third']) lab.add(key);
  await settle();
  expect(lab.queues.all.map(({ name, status }) => `${name} ${status.type}`)).toEqual([
    'pods[first] running',
    'pods[second] queued',
    'pods[third] queued',
  ]);
  lab.queues.find('pods[second]')?.remove(() => true);
  await lab.pass(10, 3);
  expect(begun).toEqual(['first', 'third']);
  expect(lab.queues.all).toEqual([]);
});

test('a larger bound lets keys that wait go on at once', async () => {
  await using lab = new Lab();
  const begun: string[] = [];
  lab.start(async ({ key }) => {
    begun.push(key);
    await lab.clock.sleep(10, lab.stop.signal);
  });
  for (const key of ['a', 'b', 'c']) lab.add(key, 0, 1);
  await settle();
  expect(begun).toEqual(['a']);
  lab.add('a', 1, 3);
  await settle();
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('ids of tasks are never repeated, although the queue of a key is created again', async () => {
  await using lab = new Lab();
  const ids = new Set<number>();
  lab.queues.start(
    async ({ id }) => {
      ids.add(id);
      return await Promise.resolve({ type: 'success' });
    },
    { stop: lab.stop.signal, abort: lab.stop.signal },
  );
  for (let number = 0; number < 5; number += 1) {
    lab.add('a', number);
    await settle();
    expect(lab.queues.all).toEqual([]);
  }
  expect(ids.size).toBe(5);
});

test('after a stop the running tasks end, and none of those that wait begins', async () => {
  const lab = new Lab();
  const begun: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  lab.start(async ({ key }) => {
    begun.push(key);
    await promise;
  });
  for (const key of KEYS) lab.add(key, 0, 2);
  await settle();
  lab.stop.abort(new Error('the test ends'));
  resolve();
  await lab.queues.ended();
  expect(begun).toEqual(['a', 'b']);
  expect(lab.queues.all.map(({ length, status }) => [length, status.type])).toEqual(
    Array.from({ length: KEYS.length }, () => [1, 'stopped']),
  );
});

test('keys that were queued before the start run once', async () => {
  await using lab = new Lab();
  const begun: string[] = [];
  lab.add('a');
  lab.start(async ({ key }) => {
    begun.push(key);
    await lab.clock.sleep(10, lab.stop.signal);
  });
  await lab.pass(10, 3);
  expect(begun).toEqual(['a']);
  expect(lab.queues.all).toEqual([]);
});

test('ten thousand keys run in turn and leave nothing behind', async () => {
  await using lab = new Lab();
  let done = 0;
  lab.start(async () => {
    done += 1;
    await Promise.resolve();
  });
  for (let key = 0; key < 10_000; key += 1) lab.add(String(key), 0, 8);
  while (lab.queues.find('pods[9999]') !== undefined) await settle();
  await settle();
  expect(done).toBe(10_000);
  expect(lab.queues.all).toEqual([]);
});

test('ten thousand keys that wait end at a stop', async () => {
  const lab = new Lab();
  const { promise, resolve } = Promise.withResolvers<void>();
  lab.start(() => promise);
  for (let key = 0; key < 10_000; key += 1) lab.add(String(key), 0, 8);
  await settle();
  lab.stop.abort(new Error('the test ends'));
  resolve();
  await lab.queues.ended();
  expect(lab.queues.all.filter(({ status }) => status.type === 'stopped')).toHaveLength(10_000);
});

test('the delay of an earlier failure keeps no place from other keys', async () => {
  await using lab = new Lab();
  const ran: string[] = [];
  lab.start(async ({ key }) => void ran.push(key));
  const failure = { type: 'retry', error: new Error('it failed elsewhere') } as const;
  lab.queues.lane('pods', 'a', 1).appendFailed({ key: 'a', number: 0 }, failure);
  lab.add('b');
  await settle();
  expect(ran).toEqual(['b']);
  await lab.pass(5_000, 1);
  expect(ran).toEqual(['b', 'a']);
});
