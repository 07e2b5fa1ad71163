import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { TaskQueue } from './task-queue.ts';

test.each(['onFailure', 'onAdd', 'admit', 'handle'] as const)(
  'run() goes on with all tasks in order, when %s throws',
  async (thrower) => {
    const clock = new FakeClock();
    const boom = new Error('boom');
    const errors: unknown[] = [];
    const throwing = (name: string): void => {
      if (name === thrower) throw boom;
    };
    const queue = new TaskQueue<string>({
      name: 'main',
      clock,
      random: () => 0,
      onFailure: () => throwing('onFailure'),
      onAdd: () => throwing('onAdd'),
      admit: (tasks) => {
        throwing('admit');
        return tasks;
      },
      onError: (error) => errors.push(error),
    });
    const ran: string[] = [];
    const stop = new AbortController();
    const ended = queue.run(
      // Not an async function: what it throws is thrown at once.
      (entry) => {
        ran.push(entry.task);
        if (entry.failures === 0 && entry.task === 'a') throwing('handle');
        const isFirst = entry.failures === 0;
        if (entry.task === 'a' && isFirst) return Promise.resolve({ type: 'retry', error: 'no' });
        return Promise.resolve({ type: 'success', ...(entry.task === 'a' && { after: ['b'], tail: ['d'] }) });
      },
      { stop: stop.signal, abort: stop.signal },
    );
    queue.append('a', 'c');
    await settle();
    await clock.advance(5_000);
    expect(ran).toEqual(['a', 'a', 'b', 'c', 'd']);
    expect(errors.every((error) => error === boom)).toBe(true);
    expect(errors.length > 0).toBe(thrower !== 'handle');
    stop.abort();
    await ended;
  },
);

test('tasks that wait for nothing let timers and connections have a turn', async () => {
  let nowMs = 0;
  const clock = Object.assign(new FakeClock(), { steadyMs: () => nowMs });
  const queue = new TaskQueue<number>({ name: 'main', clock, random: () => 0 });
  queue.append(...Array.from({ length: 10 }, (_, index) => index));
  const stop = new AbortController();
  let done = 0;
  const doneAtTurn = new Promise<number>((resolve) => {
    setImmediate(() => resolve(done));
  });
  const ended = queue.run(
    async () => {
      nowMs += 4;
      done += 1;
      return { type: 'success' };
    },
    { stop: stop.signal, abort: stop.signal },
  );
  expect(await doneAtTurn).toBe(3);
  await queue.untilEmpty();
  stop.abort();
  await ended;
  expect(done).toBe(10);
});

test('a queue reports an unexpected error, pauses, and goes on with the task', async () => {
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const boom = new Error('boom');
  let isBroken = true;
  const queue = new TaskQueue<string>({
    name: 'main',
    clock,
    random: () => 0,
    measure: (action, act) => {
      if (isBroken && action === 'RemoveFirst') throw boom;
      return act();
    },
    onError: (error) => errors.push(error),
  });
  const stop = new AbortController();
  const ran: string[] = [];
  const ended = queue.run(
    async ({ task }) => {
      ran.push(task);
      return { type: 'success' };
    },
    { stop: stop.signal, abort: stop.signal },
  );
  queue.append('a', 'b');
  await settle();
  expect([ran, errors, clock.pendingDelaysMs]).toEqual([['a'], [boom], [5_000]]);
  isBroken = false;
  await clock.advance(5_000);
  expect(ran).toEqual(['a', 'a', 'b']);
  stop.abort();
  await ended;
});
