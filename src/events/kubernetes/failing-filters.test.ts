import { afterEach, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { settle } from '../../../test/support/fake-clock.ts';
import { MonitorLab } from '../../../test/support/monitor-lab.ts';

let lab = new MonitorLab();

beforeEach(() => {
  lab = new MonitorLab();
});

afterEach(() => lab.stop.abort());

test('FAULT-A23: an object keeps its last filtered state while its filter fails, and others go on', async () => {
  lab.api.put('a/one', { data: { x: 1 } });
  const monitor = await lab.started({ jqFilter: '.data.x' });
  monitor.unlock();
  lab.api.put('a/one', { data: { bad: 1 } });
  lab.api.put('a/two', { data: { x: 2 } });
  await settle();
  expect(lab.events).toEqual(['Added a/two']);
  expect(monitor.snapshot()).toMatchObject([{ object: { data: { x: 1 } }, filterResult: 1 }, {}]);
});

test('FAULT-A23: an object of the first list on which the filter fails is set aside, and is Added once it can be filtered', async () => {
  const log = new CapturedLog(lab.clock);
  lab.api.put('a/bad', { data: { bad: 1 } });
  lab.api.put('a/good', { data: { x: 1 } });
  const monitor = await lab.started({ jqFilter: '.data.x' }, { log: log.logger });
  expect(monitor.snapshot()).toMatchObject([{ object: { metadata: { name: 'good' } }, filterResult: 1 }]);
  expect(monitor.health().filterFailures).toMatchObject([{ namespace: 'a', name: 'bad', attempts: 1 }]);
  expect(log.records).toMatchObject([
    {
      level: 'error',
      object: 'a/bad',
      msg: 'filter failed, the object is left out until a retry succeeds',
    },
  ]);
  monitor.unlock();
  lab.api.put('a/bad', { data: { x: 2 } });
  await settle();
  expect(lab.events).toEqual(['Added a/bad']);
  expect(monitor.snapshot()).toMatchObject([{ filterResult: 2 }, { filterResult: 1 }]);
  expect(monitor.health().filterFailures).toEqual([]);
});

test('an object of the first list whose filter timed out is Added by a retry, without any further event', async () => {
  lab.api.put('a/slow', { data: { x: 1 } });
  lab.filterMode = 'timing-out';
  const starting = lab.started({ jqFilter: '.data.x' });
  await lab.clock.advance(4_000);
  const monitor = await starting;
  expect(monitor.snapshot()).toEqual([]);
  monitor.unlock();
  lab.filterMode = 'strict';
  await lab.clock.advance(1_000);
  expect(lab.events).toEqual(['Added a/slow']);
});

test('nothing is emitted for an object of the first list that is deleted, when no state of it could be filtered', async () => {
  lab.api.put('a/bad', { data: { bad: 1 } });
  const monitor = await lab.started({ jqFilter: '.data.x' });
  monitor.unlock();
  lab.api.delete('a/bad');
  lab.filterMode = 'lenient';
  await lab.clock.advance(300_000);
  expect([lab.events, monitor.snapshot(), monitor.health().filterFailures]).toEqual([[], [], []]);
});

test('a filter that fails on every object of a long list is logged for ten of them, and once for the others', async () => {
  const log = new CapturedLog(lab.clock);
  for (let index = 0; index < 100; index += 1) lab.api.put(`a/${index}`, { data: { bad: 1 } });
  const monitor = await lab.started({ jqFilter: '.data.x' }, { log: log.logger });
  expect(log.records).toHaveLength(11);
  expect(log.records.at(-1)).toMatchObject({
    objects: 90,
    msg: 'filter failed on more objects of the list',
  });
  expect(monitor.health().filterFailures).toHaveLength(100);
});

test('Deleted is emitted with the last known filter result, when the filter fails on the last state', async () => {
  lab.api.put('a/one', { data: { x: 1 } });
  const monitor = await lab.started({ jqFilter: '.data.x' });
  monitor.unlock();
  lab.api.put('a/one', { data: { bad: 1 } });
  await settle();
  lab.api.delete('a/one');
  await settle();
  expect(lab.events).toEqual(['Deleted a/one']);
  expect(lab.items).toMatchObject([{ object: { data: { bad: 1 } }, filterResult: 1 }]);
  expect([monitor.snapshot(), monitor.health().filterFailures]).toEqual([[], []]);
});

test('Deleted is emitted for an object with a failing filter, when only a list shows that it is gone', async () => {
  lab.api.put('a/one', { data: { x: 1 } });
  (await lab.started({ jqFilter: '.data.x' })).unlock();
  lab.api.put('a/one', { data: { bad: 1 } });
  await settle();
  lab.api.breakWatches();
  lab.api.delete('a/one');
  lab.api.compact();
  await lab.clock.advance(5_000);
  expect(lab.events).toEqual(['Deleted a/one']);
  expect(lab.items).toMatchObject([{ object: { data: { bad: 1 } }, filterResult: 1 }]);
});

test('nothing is emitted for the deletion of an object, when no state of it could be filtered', async () => {
  (await lab.started({ jqFilter: '.data.x' })).unlock();
  lab.api.put('a/one', { data: { bad: 1 } });
  await settle();
  lab.api.delete('a/one');
  await lab.clock.advance(60_000);
  expect(lab.events).toEqual([]);
});

test('a change whose filter timed out twice is emitted by a retry, without any further event', async () => {
  lab.api.put('a/one', { data: { x: 1 } });
  const monitor = await lab.started({ jqFilter: '.data.x' });
  monitor.unlock();
  lab.filterMode = 'timing-out';
  lab.api.put('a/one', { data: { x: 2 } });
  await lab.clock.advance(4_000);
  expect([lab.events, monitor.health().filterFailures.length]).toEqual([[], 1]);
  lab.filterMode = 'strict';
  await lab.clock.advance(1_000);
  expect(lab.events).toEqual(['Modified a/one']);
  expect(monitor.snapshot()).toMatchObject([{ object: { data: { x: 2 } }, filterResult: 2 }]);
  expect(monitor.health().filterFailures).toEqual([]);
});

test('retries are made with growing pauses, and the failure is reported with its object', async () => {
  const monitor = await lab.started({ jqFilter: '.data.x' });
  lab.api.put('a/one', { data: { bad: 1 } });
  await lab.clock.advance(0);
  expect(monitor.health().filterFailures).toMatchObject([{ attempts: 1, nextAttemptMs: 1_000 }]);
  await lab.clock.advance(7_000);
  expect(monitor.health().filterFailures).toEqual([
    {
      namespace: 'a',
      name: 'one',
      error: 'Cannot apply jqFilter of binding "configs" to ConfigMap a/one: Cannot index number',
      attempts: 4,
      sinceMs: 0,
      nextAttemptMs: 15_000,
    },
  ]);
});

test('an object is Added, when a change of it is the first state that its filter takes', async () => {
  (await lab.started({ jqFilter: '.data.x' })).unlock();
  lab.api.put('a/one', { data: { bad: 1 } });
  await settle();
  lab.api.put('a/one', { data: { x: 1 } });
  await lab.clock.advance(60_000);
  expect(lab.events).toEqual(['Added a/one']);
});

test('a retry for an older state has no effect, when a newer state came while it ran', async () => {
  lab.api.put('a/one', { data: { x: 1 } });
  const monitor = await lab.started({ jqFilter: '.data.x' });
  monitor.unlock();
  lab.filterMode = 'failing';
  lab.api.put('a/one', { data: { x: 2 } });
  await settle();
  lab.filterMode = 'timing-out';
  await lab.clock.advance(1_000);
  lab.filterMode = 'strict';
  lab.api.put('a/one', { data: { x: 3 } });
  await lab.clock.advance(60_000);
  expect(lab.events).toEqual(['Modified a/one']);
  expect(monitor.snapshot()).toMatchObject([{ filterResult: 3 }]);
});

test('every relist retries at once, when the pause is still long', async () => {
  lab.api.put('a/one', { data: { x: 1 } });
  (await lab.started({ jqFilter: '.data.x' })).unlock();
  lab.api.put('a/one', { data: { bad: 1, x: 5 } });
  for (let minute = 0; minute < 10; minute += 1) {
    await lab.clock.advance(60_000);
    lab.api.bookmark();
  }
  lab.filterMode = 'lenient';
  lab.api.breakWatches();
  lab.api.put('a/two', { data: { x: 1 } });
  lab.api.compact();
  await lab.clock.advance(5_000);
  expect(lab.events).toEqual(['Added a/two', 'Modified a/one']);
});

test('one object with a failing filter holds up only itself, when a namespace begins to match', async () => {
  const namespace = { labelSelector: { matchLabels: { watch: 'yes' } } };
  const monitor = await lab.started({ namespace, jqFilter: '.data.x' });
  monitor.unlock();
  lab.api.put('a/bad', { data: { bad: 1, x: 1 } });
  lab.api.put('a/good', { data: { x: 2 } });
  lab.api.put('/a', { labels: { watch: 'yes' } }, 'namespaces');
  await settle();
  expect([lab.events, monitor.health().filterFailures.length]).toEqual([['Added a/good'], 1]);
  lab.filterMode = 'lenient';
  await lab.clock.advance(1_000);
  expect(lab.events).toEqual(['Added a/good', 'Added a/bad']);
  lab.api.put('a/good', { data: { bad: 1 } });
  lab.filterMode = 'strict';
  await settle();
  lab.api.put('/a', { labels: { watch: 'no' } }, 'namespaces');
  await lab.clock.advance(60_000);
  expect(lab.events.slice(2)).toEqual(['Deleted a/bad', 'Deleted a/good']);
  expect(monitor.health().filterFailures).toEqual([]);
});
