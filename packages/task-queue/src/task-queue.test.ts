import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { QueueSet } from './queue-set.ts';
import { type TaskHandler, type TaskOutcome, TaskQueue } from './task-queue.ts';

function harness(
  decide: (task: string, attempt: number) => TaskOutcome<string> | Promise<TaskOutcome<string>>,
) {
  const clock = new FakeClock();
  const queue = new TaskQueue<string>({ name: 'main', clock, random: () => 0.95 });
  const ran: string[] = [];
  const handle: TaskHandler<string> = async (entry) => {
    ran.push(entry.task);
    return decide(entry.task, entry.failures);
  };
  const stop = new AbortController();
  const ended = queue.run(handle, { stop: stop.signal, abort: stop.signal });
  return { clock, queue, ran, stop, ended };
}

const success: TaskOutcome<string> = { type: 'success' };
const never = { stop: new AbortController().signal, abort: new AbortController().signal };

test('run() handles tasks in the order they arrived, one at a time', async () => {
  const { queue, ran } = harness(() => success);
  queue.append('a', 'b');
  queue.append('c');
  await settle();
  expect(ran).toEqual(['a', 'b', 'c']);
  expect(queue.length).toBe(0);
});

test('the worker waits since the last task, and a task that comes ends that', async () => {
  const { clock, queue } = harness(() => success);
  expect(queue.status).toEqual({ type: 'waiting', sinceMs: 0 });
  await clock.advance(3_000);
  queue.append('a');
  await settle();
  expect(queue.status).toEqual({ type: 'waiting', sinceMs: 3_000 });
});

test('run() retries the head task before taking the next, with delays from 5 s to 30 s', async () => {
  const { clock, queue, ran } = harness((task, attempt) =>
    task === 'bad' && attempt < 8 ? { type: 'retry', error: new Error('boom') } : success,
  );
  queue.append('bad', 'next');
  await settle();
  for (const delayMs of [5_000, 6_900, 7_900, 9_900, 13_900, 21_900, 30_000, 30_000]) {
    expect(ran).not.toContain('next');
    expect(clock.pendingDelaysMs).toEqual([delayMs]);
    expect(queue.status).toMatchObject({ type: 'delayed', delayMs });
    expect(queue.entries[0]).toMatchObject({ lastError: 'boom', failingSinceMs: 0 });
    await clock.advance(delayMs);
  }
  expect(ran.at(-1)).toBe('next');
});

test('run() takes the delay a failure requests', async () => {
  const { clock, queue } = harness(() => ({ type: 'retry', error: 'no', delayMs: 5_000 }));
  queue.append('discovery');
  for (let attempt = 0; attempt < 4; attempt += 1) {
    await settle();
    expect(clock.pendingDelaysMs).toEqual([5_000]);
    await clock.advance(5_000);
  }
});

test('a handler that throws counts as a failure and the worker lives on', async () => {
  const { clock, queue, ran } = harness((_task, attempt) => {
    if (attempt === 0) throw new Error('crash');
    return success;
  });
  queue.append('a', 'b');
  await settle();
  expect(queue.entries[0]?.failures).toBe(1);
  await clock.advance(5_000);
  await clock.advance(5_000);
  expect(ran).toEqual(['a', 'a', 'b', 'b']);
});

test('a task put at the head during a delay runs when the delay is over, before the failed one', async () => {
  const { clock, queue, ran } = harness((task, attempt) =>
    task === 'bad' && attempt === 0 ? { type: 'retry', error: 'x' } : success,
  );
  queue.append('bad');
  await settle();
  queue.prepend('urgent');
  await clock.advance(4_999);
  expect(ran).toEqual(['bad']);
  await clock.advance(1);
  expect(ran).toEqual(['bad', 'urgent', 'bad']);
});

test('cutDelay() runs the failed task at once', async () => {
  const { clock, queue, ran } = harness((_task, attempt) =>
    attempt === 0 ? { type: 'retry', error: 'x' } : success,
  );
  queue.append('bad');
  await settle();
  queue.cutDelay();
  await settle();
  expect(ran).toEqual(['bad', 'bad']);
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('a repeated task runs again after the tasks it put in front of itself', async () => {
  let phase = 0;
  const { queue, ran } = harness((task) => {
    if (task !== 'converge') return success;
    phase += 1;
    return phase === 1 ? { type: 'repeat', before: ['hook-1', 'hook-2'] } : success;
  });
  queue.append('converge', 'later');
  await settle();
  expect(ran).toEqual(['converge', 'hook-1', 'hook-2', 'converge', 'later']);
});

test('a repeated task waits for its promise, and a task put at the head does not', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let attempts = 0;
  const { queue, ran } = harness((task) => {
    if (task !== 'waiter') return success;
    attempts += 1;
    return attempts < 3 ? { type: 'repeat', when: promise } : success;
  });
  queue.append('waiter', 'next');
  await settle();
  expect(queue.status.type).toBe('repeating');
  queue.append('tail');
  await settle();
  expect(ran).toEqual(['waiter']);
  queue.prepend('urgent');
  await settle();
  expect(ran).toEqual(['waiter', 'urgent', 'waiter']);
  resolve();
  await settle();
  expect(ran).toEqual(['waiter', 'urgent', 'waiter', 'waiter', 'next', 'tail']);
});

test('follow-ups go behind the finished task or to the end', async () => {
  const { queue, ran } = harness((task) =>
    task === 'a' ? { type: 'success', after: ['a2'], tail: ['z'] } : success,
  );
  queue.append('a', 'b');
  await settle();
  expect(ran).toEqual(['a', 'a2', 'b', 'z']);
});

test('remove() drops waiting tasks, ends the delay of a removed head and ignores the outcome of a running one', async () => {
  const { promise, resolve } = Promise.withResolvers<TaskOutcome<string>>();
  const { clock, queue, ran } = harness((task) => {
    if (task === 'slow') return promise;
    return task === 'bad' ? { type: 'retry', error: 'x' } : success;
  });
  queue.append('bad', 'keep');
  await settle();
  expect(queue.remove((task) => task === 'bad')).toEqual(['bad']);
  await settle();
  expect(ran).toEqual(['bad', 'keep']);
  queue.append('slow', 'next');
  await settle();
  queue.remove((task) => task === 'slow');
  resolve({ type: 'success', after: ['never'], tail: ['never'] });
  await settle();
  expect(ran).toEqual(['bad', 'keep', 'slow', 'next']);
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('takeFollowing() takes only the unbroken row behind the running task', async () => {
  const clock = new FakeClock();
  const queue = new TaskQueue<string>({ name: 'q', clock, random: () => 0 });
  const seen: string[][] = [];
  queue.append('h1', 'h2', 'x', 'h3');
  void queue.run(async (entry, own) => {
    seen.push([entry.task, ...own.takeFollowing(entry, (task) => task.startsWith('h'))]);
    return success;
  }, never);
  await settle();
  expect(seen).toEqual([
    ['h1', 'h2'],
    ['x', 'h3'],
  ]);
});

test('replaceTask() is what a retry gets', async () => {
  const clock = new FakeClock();
  const queue = new TaskQueue<string>({ name: 'q', clock, random: () => 0 });
  const seen: string[] = [];
  queue.append('one');
  void queue.run(async (entry, own) => {
    seen.push(entry.task);
    if (entry.failures > 0) return success;
    own.replaceTask(entry, 'merged');
    return { type: 'retry', error: 'x' };
  }, never);
  await settle();
  await clock.advance(5_000);
  expect(seen).toEqual(['one', 'merged']);
});

test('run() ends when the signal aborts: idle, in a delay, and after the running handler', async () => {
  const idle = harness(() => success);
  idle.stop.abort();
  await idle.ended;
  const delayed = harness(() => ({ type: 'retry', error: 'x' }));
  delayed.queue.append('a');
  await settle();
  delayed.stop.abort();
  await delayed.ended;
  expect(delayed.clock.pendingDelaysMs).toEqual([]);
  expect(delayed.queue.status).toEqual({ type: 'stopped' });
});

test('QueueSet runs queues independently and lists main first', async () => {
  const clock = new FakeClock();
  const ran: string[] = [];
  const failures: string[] = [];
  const queues = new QueueSet<string>({
    clock,
    random: () => 0,
    onFailure: (queue, entry) => failures.push(`${queue}:${entry.task}`),
  });
  queues.get('zeta').append('a');
  const stop = new AbortController();
  const handle: TaskHandler<string> = async (entry, queue) => {
    ran.push(`${queue.name}:${entry.task}`);
    return entry.task === 'bad' ? { type: 'retry', error: 'x' } : success;
  };
  queues.start(handle, { stop: stop.signal, abort: stop.signal });
  queues.get('main').append('bad', 'blocked');
  queues.get('alpha').append('b');
  await settle();
  expect(ran.toSorted()).toEqual(['alpha:b', 'main:bad', 'zeta:a']);
  expect(failures).toEqual(['main:bad']);
  expect(queues.all.map((queue) => queue.name)).toEqual(['main', 'alpha', 'zeta']);
  stop.abort();
  await queues.ended();
});

test('an orderly stop lets the running handler finish; an abort reaches it', async () => {
  const clock = new FakeClock();
  const queue = new TaskQueue<string>({ name: 'q', clock, random: () => 0 });
  const stop = new AbortController();
  const abort = new AbortController();
  const { promise, resolve } = Promise.withResolvers<TaskOutcome<string>>();
  const seen: boolean[] = [];
  queue.append('slow', 'never');
  const ended = queue.run(
    async (_entry, _queue, signal) => {
      signal.addEventListener('abort', () => resolve(success));
      await promise;
      seen.push(signal.aborted);
      return success;
    },
    { stop: stop.signal, abort: abort.signal },
  );
  stop.abort();
  await settle();
  expect(seen).toEqual([]);
  abort.abort();
  await ended;
  expect(seen).toEqual([true]);
  expect(queue.length).toBe(2);
});

test('untilEmpty() resolves when the last task succeeded or was removed', async () => {
  const { clock, queue } = harness((task, attempt) =>
    task === 'bad' && attempt === 0 ? { type: 'retry', error: 'x' } : success,
  );
  await queue.untilEmpty();
  queue.append('bad');
  const empty = queue.untilEmpty();
  await settle();
  await clock.advance(5_000);
  await empty;
  expect(queue.length).toBe(0);
});

test('entriesFromRunning shows the running task before those put at the head during its run', async () => {
  const { promise, resolve } = Promise.withResolvers<TaskOutcome<string>>();
  const { queue } = harness((task) => (task === 'slow' ? promise : success));
  queue.append('slow', 'next');
  await settle();
  queue.prepend('urgent');
  expect(queue.entriesFromRunning.map(({ task }) => task)).toEqual(['slow', 'urgent', 'next']);
  resolve(success);
  await settle();
  expect(queue.entriesFromRunning).toEqual([]);
});

test('appendFailed() lets the delay of the earlier failure pass before the task runs', async () => {
  const { clock, queue, ran } = harness(() => success);
  queue.append('first');
  queue.appendFailed('moved', { type: 'retry', error: new Error('boom') });
  queue.append('behind');
  await settle();
  expect(ran).toEqual(['first']);
  expect(queue.entries[0]).toMatchObject({ task: 'moved', failures: 1, lastError: 'boom' });
  expect(clock.pendingDelaysMs).toEqual([5_000]);
  await clock.advance(5_000);
  expect(ran).toEqual(['first', 'moved', 'behind']);
  queue.appendFailed('put off', { type: 'retry', error: new Error('later'), delayMs: 60_000 });
  await settle();
  expect(clock.pendingDelaysMs).toEqual([60_000]);
});

test('insertBefore() puts a task in front of what has to come after it, or at the end', async () => {
  const { promise } = Promise.withResolvers<void>();
  const isRun = (task: string): boolean => task.startsWith('run');
  const { clock, queue, ran } = harness((task) =>
    isRun(task) ? { type: 'repeat', when: promise } : success,
  );
  queue.append('run');
  await settle();
  queue.append('event');
  queue.insertBefore(isRun, 'failed', { type: 'retry', error: new Error('boom') });
  queue.insertBefore(isRun, 'second');
  queue.insertBefore((task) => task === 'none', 'last');
  expect(queue.entries.map(({ task }) => task)).toEqual(['failed', 'second', 'run', 'event', 'last']);
  await settle();
  expect(queue.entries[0]).toMatchObject({ task: 'failed', failures: 1, lastError: 'boom' });
  await clock.advance(5_000);
  expect(ran).toEqual(['run', 'failed', 'second', 'run']);
});

test('a failed task is failing until an attempt of it gets so far that other tasks go before it', async () => {
  const { clock, queue } = harness((task, attempt) => {
    if (task !== 'phases') return { type: 'retry', error: new Error('step') };
    return attempt === 0 ? { type: 'retry', error: new Error('boom') } : { type: 'repeat', before: ['step'] };
  });
  queue.append('phases');
  await settle();
  expect(queue.entries[0]).toMatchObject({ failures: 1, isFailing: true });
  await clock.advance(5_000);
  expect(queue.entries).toMatchObject([
    { task: 'step', failures: 1, isFailing: true },
    { task: 'phases', failures: 1, isFailing: false, lastError: 'boom' },
  ]);
});

test('noteFailure() counts on a task that waits, which goes on waiting', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const { queue, ran } = harness(() => (isOver ? success : { type: 'repeat', when: promise }));
  queue.append('waiting');
  await settle();
  for (const entry of queue.entries) queue.noteFailure(entry, 'a part failed');
  expect(queue.entries[0]).toMatchObject({ failures: 1, isFailing: true, lastError: 'a part failed' });
  expect(queue.status.type).toBe('repeating');
  isOver = true;
  resolve();
  await settle();
  expect(ran).toEqual(['waiting', 'waiting']);
  expect(queue.length).toBe(0);
});

test('what is done to a queue is measured by name', async () => {
  const actions: string[] = [];
  const queue = new TaskQueue<string>({
    name: 'main',
    clock: new FakeClock(),
    random: () => 0,
    measure: (action, act) => {
      actions.push(action);
      return act();
    },
  });
  queue.append('a', 'b');
  queue.prepend('first');
  queue.remove((task) => task === 'b');
  expect(queue.entriesFromRunning.map(({ task }) => task)).toEqual(['first', 'a']);
  const stop = new AbortController();
  const ended = queue.run(
    async ({ task }) => (task === 'a' ? { type: 'success', after: ['c'], tail: ['d'] } : success),
    { stop: stop.signal, abort: stop.signal },
  );
  await settle();
  expect(queue.length).toBe(0);
  expect(actions.join(' ')).toBe(
    'AddLast AddFirst DeleteFunc IterateSnapshot RemoveFirst AddAfter RemoveFirst AddLast RemoveFirst RemoveFirst',
  );
  stop.abort();
  await ended;
});

test('tasks are queued as they are admitted, and reported with their place and what they follow', async () => {
  const added: string[] = [];
  const queue = new TaskQueue<string>({
    name: 'main',
    clock: new FakeClock(),
    random: () => 0,
    admit: (tasks, follows) => tasks.map((task) => `${task}<${follows ?? ''}`),
    onAdd: (place, entries) =>
      added.push(`${place} ${entries.map(({ id, task }) => `${id}:${task}`).join(' ')}`),
  });
  queue.append('a', 'b');
  queue.prepend('first');
  queue.append();
  const outcomes: Readonly<Record<string, TaskOutcome<string>>> = {
    'a<': { type: 'success', after: ['c'], tail: ['d'] },
    'b<': { type: 'repeat', before: ['e'] },
  };
  const stop = new AbortController();
  const seen = new Set<string>();
  const ended = queue.run(
    async ({ task }) => {
      const outcome = seen.has(task) ? success : (outcomes[task] ?? success);
      seen.add(task);
      return outcome;
    },
    { stop: stop.signal, abort: stop.signal },
  );
  await settle();
  stop.abort();
  await ended;
  expect(added).toEqual([
    'append 1:a< 2:b<',
    'head 3:first<',
    'after 4:c<a<',
    'append 5:d<a<',
    'head 6:e<b<',
  ]);
});
