import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { type TaskOutcome, TaskQueue } from './task-queue.ts';

const success: TaskOutcome<string> = { type: 'success' };

function harness(decide: (task: string) => TaskOutcome<string>) {
  const clock = new FakeClock();
  const queue = new TaskQueue<string>({ name: 'main', clock, random: () => 0 });
  const ran: string[] = [];
  const stop = new AbortController();
  void queue.run(
    async ({ task }) => {
      ran.push(task);
      return decide(task);
    },
    { stop: stop.signal, abort: stop.signal },
  );
  return { clock, queue, ran };
}

test('a repeated task runs again when its promise is rejected', async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  let attempts = 0;
  const { queue, ran } = harness(() => {
    attempts += 1;
    return attempts === 1 ? { type: 'repeat', when: promise } : success;
  });
  queue.append('waiter');
  await settle();
  reject(new Error('no'));
  await settle();
  expect(ran).toEqual(['waiter', 'waiter']);
});

test('rewrite() ends the delay of a failed task of which it makes nothing', async () => {
  const { clock, queue, ran } = harness((task) =>
    task === 'bad' ? { type: 'retry', error: new Error('x') } : success,
  );
  queue.append('bad', 'next');
  await settle();
  queue.rewrite((task) => (task === 'bad' ? undefined : task));
  await settle();
  expect([ran, clock.pendingDelaysMs]).toEqual([['bad', 'next'], []]);
});
