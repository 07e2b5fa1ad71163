import { expect, test } from 'vitest';
import { KeyedLock } from './keyed-lock.ts';

const signal = new AbortController().signal;

test('KeyedLock lets one caller at a time in, in the order they came', async () => {
  const lock = new KeyedLock();
  const journal: string[] = [];
  const first = Promise.withResolvers<void>();
  const act = (name: string, until: Promise<void>) => async (): Promise<void> => {
    journal.push(`${name} in`);
    await until;
    journal.push(`${name} out`);
  };
  const runs = [
    lock.run('a', signal, act('1', first.promise)),
    lock.run('a', signal, act('2', Promise.resolve())),
    lock.run('b', signal, act('other', Promise.resolve())),
  ];
  await runs[2];
  first.resolve();
  await Promise.all(runs);
  expect(journal).toEqual(['1 in', 'other in', 'other out', '1 out', '2 in', '2 out']);
});

test('KeyedLock lets the next one in after a failure', async () => {
  const lock = new KeyedLock();
  await expect(lock.run('a', signal, async () => await Promise.reject(new Error('x')))).rejects.toThrow('x');
  expect(await lock.run('a', signal, async () => await Promise.resolve(1))).toBe(1);
});

test('KeyedLock does not act for a caller whose signal aborts during the wait', async () => {
  const lock = new KeyedLock();
  const first = Promise.withResolvers<void>();
  const abort = new AbortController();
  const running = lock.run('a', signal, async () => await first.promise);
  const waiting = lock.run('a', abort.signal, async () => await Promise.resolve('acted'));
  abort.abort(new Error('stopped'));
  first.resolve();
  await running;
  await expect(waiting).rejects.toThrow('stopped');
});

test('KeyedLock lets a caller wait that comes while a later one than the first waits', async () => {
  const lock = new KeyedLock();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const journal: string[] = [];
  const running = [
    lock.run('a', signal, async () => await first.promise),
    lock.run('a', signal, async () => {
      await second.promise;
      journal.push('second');
    }),
  ];
  first.resolve();
  await running[0];
  const third = lock.run('a', signal, async () => void journal.push('third'));
  await new Promise((resolve) => setImmediate(resolve));
  second.resolve();
  await Promise.all([...running, third]);
  expect(journal).toEqual(['second', 'third']);
});
