import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { expectTruth, labOfEachTest } from '../../../test/support/reflector-lab.ts';

const labNow = labOfEachTest();

test('FAULT-A9: after the store of the server went back, the newest state it has is taken', async () => {
  const { api, clock } = labNow();
  for (const key of ['a/one', 'a/two', 'a/three']) api.put(key);
  const sink = await labNow().follow();
  await settle();
  api.restoreOlderCopy(2, ['a/three']);
  await clock.advance(75_000);
  expect(sink.log).toEqual(['Deleted a/three']);
  expectTruth(labNow(), sink);
  api.put('a/new');
  await settle();
  expectTruth(labNow(), sink);
});

test('FAULT-A9: a store that went back while a watch was reopened is noticed at once', async () => {
  const { api, clock } = labNow();
  for (const key of ['a/one', 'a/two', 'a/three']) api.put(key);
  const sink = await labNow().follow();
  await settle();
  api.breakWatches();
  api.restoreOlderCopy(2, ['a/three']);
  await clock.advance(2_000);
  expect(sink.log).toEqual(['Deleted a/three']);
  expect(api.count('version')).toBe(1);
  expectTruth(labNow(), sink);
});

test('FAULT-A9: what an older backup undid is reported, although its versions overtake those that were seen', async () => {
  const { api, clock } = labNow();
  for (const key of ['a/one', 'a/two', 'a/three']) api.put(key);
  const sink = await labNow().follow();
  await settle();
  api.isDown = true;
  api.breakWatches();
  await clock.advance(3_000);
  api.restoreOlderCopy(2, ['a/three']);
  for (const key of ['x', 'y', 'z']) api.put(key, {}, 'namespaces');
  api.isDown = false;
  await clock.advance(10_000);
  expect(sink.log).toEqual(['Deleted a/three']);
  expectTruth(labNow(), sink);
});

test('FAULT-A9: a store that went back is noticed, when a watch that ended in good order cannot be opened again', async () => {
  const { api, clock, ended } = labNow();
  for (const key of ['a/one', 'a/two', 'a/three']) api.put(key);
  const sink = await labNow().follow();
  await settle();
  for (let passed = 0; passed < 300; passed += 30) {
    await clock.advance(30_000);
    api.bookmark();
  }
  api.isDown = true;
  api.closeWatches();
  await clock.advance(1_000);
  expect(ended.slice(0, 2)).toEqual(['ConfigMap closed', 'ConfigMap failed']);
  api.restoreOlderCopy(2, ['a/three']);
  for (const key of ['x', 'y', 'z']) api.put(key, {}, 'namespaces');
  api.isDown = false;
  await clock.advance(10_000);
  expect(sink.log).toEqual(['Deleted a/three']);
  expectTruth(labNow(), sink);
});

test('FAULT-A9: an open watch is replaced when the list for a newcomer shows that the store went back', async () => {
  const { api, clock } = labNow();
  for (const key of ['a/one', 'a/two', 'a/three']) api.put(key);
  const first = await labNow().follow();
  await settle();
  api.restoreOlderCopy(2, ['a/three']);
  const second = await labNow().follow();
  await clock.advance(1_000);
  expect([api.count('watch'), api.openWatches]).toEqual([2, 1]);
  expectTruth(labNow(), first);
  expectTruth(labNow(), second);
});
