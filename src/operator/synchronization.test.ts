import { expect, test } from 'vitest';
import { settle } from '../../test/support/fake-clock.ts';
import { Synchronization } from './synchronization.ts';

test('whenDone() resolves at once while nothing is expected', async () => {
  const synchronization = new Synchronization();
  expect(synchronization.isDone).toBe(true);
  await synchronization.whenDone();
});

test('whenDone() resolves for everyone when the last expected run is done', async () => {
  const synchronization = new Synchronization();
  const woken: string[] = [];
  synchronization.expect();
  synchronization.expect();
  void synchronization.whenDone().then(() => woken.push('a'));
  void synchronization.whenDone().then(() => woken.push('b'));
  synchronization.done();
  await settle();
  expect([synchronization.isDone, woken]).toEqual([false, []]);
  synchronization.done();
  await settle();
  expect([synchronization.isDone, woken]).toEqual([true, ['a', 'b']]);
});

test('a run that was not expected does not count against a later one', () => {
  const synchronization = new Synchronization();
  synchronization.done();
  synchronization.expect();
  expect(synchronization.isDone).toBe(false);
  synchronization.done();
  expect(synchronization.isDone).toBe(true);
});
