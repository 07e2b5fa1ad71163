import { expect, test } from 'vitest';
import { settle } from '../../test/support/fake-clock.ts';
import { v1 } from '../../test/support/hook-configs.ts';
import { Synchronization } from './synchronization.ts';

async function bindings() {
  const { kubernetes } = await v1({ kubernetes: [{ kind: 'Pod' }, { kind: 'Node' }] });
  const [one, two] = kubernetes;
  if (one === undefined || two === undefined) throw new Error('no bindings');
  return { one, two };
}

test('whenDone() resolves at once while nothing is expected', async () => {
  const synchronization = new Synchronization();
  expect(synchronization.isDone).toBe(true);
  await synchronization.whenDone();
});

test('whenDone() resolves for everyone when the last binding that is waited for is done', async () => {
  const { one, two } = await bindings();
  const synchronization = new Synchronization();
  const woken: string[] = [];
  synchronization.expect(one, true);
  synchronization.expect(two, true);
  void synchronization.whenDone().then(() => woken.push('a'));
  void synchronization.whenDone().then(() => woken.push('b'));
  synchronization.done(one);
  synchronization.done(one);
  await settle();
  expect([synchronization.isDone, woken]).toEqual([false, []]);
  synchronization.done(two);
  await settle();
  expect([synchronization.isDone, woken]).toEqual([true, ['a', 'b']]);
});

test('waiting tasks check again when a run is dropped, until it is requested again', async () => {
  const { one, two } = await bindings();
  const synchronization = new Synchronization();
  synchronization.expect(one, true);
  const waiting = synchronization.whenDone();
  synchronization.lose(two);
  synchronization.lose(one);
  await waiting;
  expect([synchronization.isDone, synchronization.isLost(one), synchronization.isLost(two)]).toEqual([
    false,
    true,
    false,
  ]);
  synchronization.expect(one, true);
  expect(synchronization.isLost(one)).toBe(false);
});

test('a binding that is not waited for is pending until it is done, but holds up nothing', async () => {
  const { one, two } = await bindings();
  const synchronization = new Synchronization();
  synchronization.expect(one, false);
  expect([synchronization.isDone, synchronization.isPending(one), synchronization.isPending(two)]).toEqual([
    true,
    true,
    false,
  ]);
  synchronization.done(one);
  expect(synchronization.isPending(one)).toBe(false);
});

test('a run that was not expected does not count against a later one', async () => {
  const { one, two } = await bindings();
  const synchronization = new Synchronization();
  synchronization.done(two);
  synchronization.expect(one, true);
  synchronization.done(two);
  expect(synchronization.isDone).toBe(false);
});

test('keepOnly() removes runs that no task will report as done', async () => {
  const { one, two } = await bindings();
  const synchronization = new Synchronization();
  synchronization.expect(one, true);
  synchronization.expect(two, true);
  const done = synchronization.whenDone();
  synchronization.keepOnly(new Set([one]));
  expect([synchronization.isPending(one), synchronization.isPending(two)]).toEqual([true, false]);
  synchronization.keepOnly(new Set());
  await done;
});

test('missed events of a binding whose Synchronization is pending change nothing about it', async () => {
  const { one, two } = await bindings();
  const synchronization = new Synchronization();
  synchronization.expect(one, true);
  synchronization.miss(one);
  synchronization.miss(two);
  expect([synchronization.isLost(one), synchronization.isLost(two), synchronization.isDone]).toEqual([
    false,
    true,
    false,
  ]);
});
