import { OperatorError } from '@addon-operator/base/errors';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { CONFIG_MAPS, refusal } from '../../../test/support/fake-kube-api.ts';
import { MonitorLab, titleOf } from '../../../test/support/monitor-lab.ts';

let lab = new MonitorLab();

beforeEach(() => {
  lab = new MonitorLab();
});

afterEach(() => lab.stop.abort());

describe('start()', () => {
  test('fills the snapshot, sorted by namespace and then by name', async () => {
    for (const key of ['b/a', 'a-b/x', 'a/z', 'a/b']) lab.api.put(key);
    const monitor = await lab.started();
    expect(monitor.snapshot().map(titleOf)).toEqual(['a/b', 'a/z', 'a-b/x', 'b/a']);
  });

  test('without full objects sorts by the text namespace/Kind/name', async () => {
    for (const key of ['a/z', 'a-b/x']) lab.api.put(key, { data: { x: key } });
    const monitor = await lab.started({ keepFullObjects: false, jqFilter: '.data.x' });
    expect(monitor.snapshot()).toEqual([{ filterResult: 'a-b/x' }, { filterResult: 'a/z' }]);
  });

  test('an empty match gives an empty snapshot', async () => {
    expect((await lab.started()).snapshot()).toEqual([]);
  });

  test('takes nothing from a list that expires half-way', async () => {
    for (let index = 0; index < 600; index += 1) lab.api.put(`a/${index}`);
    lab.api.refuseNext('list', refusal(410, 'Expired'), ({ query }) => {
      const isSecondPage = query?.['continue'] !== undefined;
      if (isSecondPage) lab.api.delete('a/0');
      return isSecondPage;
    });
    const monitor = await lab.started();
    expect(monitor.snapshot()).toHaveLength(599);
    expect(monitor.snapshot().map(titleOf)).not.toContain('a/0');
  });

  test('fails when the kind is unknown', async () => {
    const error = new OperatorError('KUBE_KIND_UNKNOWN', 'no such kind');
    const monitor = lab.monitor({}, { find: () => Promise.reject(error) });
    await expect(monitor.start(lab.stop.signal)).rejects.toBe(error);
  });

  test('fails when a list fails, and leaves no watch behind', async () => {
    const error = refusal(403, 'Forbidden');
    lab.api.refuseNext('list', error, ({ path }) => path.includes('/b/'));
    const monitor = lab.monitor({ namespace: { nameSelector: ['a', 'b'] } });
    await expect(monitor.start(lab.stop.signal)).rejects.toBe(error);
    await settle();
    expect(lab.api.openWatches).toBe(0);
    expect(lab.clock.pendingDelaysMs).toEqual([]);
  });

  test('fails when no process of jq can be started: a list without the objects is not the state', async () => {
    lab.api.put('a/one', { data: { x: 1 } });
    lab.filterMode = 'unavailable';
    const monitor = lab.monitor({ jqFilter: '.data.x' });
    await expect(monitor.start(lab.stop.signal)).rejects.toMatchObject({
      code: 'JQ_UNAVAILABLE',
      message:
        'Cannot apply jqFilter of binding "configs" to ConfigMap a/one: The jq process cannot be started: EAGAIN',
    });
  });

  test('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const starting = lab.monitor().start(controller.signal);
    controller.abort(new Error('enough'));
    await expect(starting).rejects.toThrow('enough');
    await settle();
    expect(lab.api.openWatches).toBe(0);
  });

  test('a signal that aborts later does not end the monitor', async () => {
    const controller = new AbortController();
    const monitor = lab.monitor();
    await monitor.start(controller.signal);
    controller.abort();
    monitor.unlock();
    lab.api.put('a/one');
    await settle();
    expect(lab.events).toEqual(['Added a/one']);
    await monitor.stop();
    await settle();
    expect(lab.api.openWatches).toBe(0);
  });
});

describe('selection', () => {
  test('has one watch for each namespace and name; repeated ones count once', async () => {
    for (const key of ['a/one', 'a/two', 'b/one', 'c/one']) lab.api.put(key);
    const monitor = await lab.started({
      namespace: { nameSelector: ['a', 'b', 'a'] },
      nameSelector: ['one', 'one', 'three'],
    });
    await settle();
    expect(monitor.snapshot().map(titleOf)).toEqual(['a/one', 'b/one']);
    expect(lab.api.openWatches).toBe(4);
  });

  test('empty lists of names are no restriction', async () => {
    for (const key of ['a/one', 'b/two']) lab.api.put(key);
    const monitor = await lab.started({ namespace: { nameSelector: [] }, nameSelector: [] });
    expect(monitor.snapshot()).toHaveLength(2);
  });

  test('passes label and field selectors to the server', async () => {
    await lab.started({
      labelSelector: { matchLabels: { app: 'web' } },
      fieldSelector: [{ field: 'spec.x', operator: '!=', value: 'y' }],
      nameSelector: ['one'],
    });
    expect(lab.api.requests[0]?.query).toMatchObject({
      labelSelector: 'app=web',
      fieldSelector: 'spec.x!=y,metadata.name=one',
    });
  });

  test('namespaces do not restrict a kind that has none', async () => {
    const find = async () => ({ ...CONFIG_MAPS, isNamespaced: false });
    await lab.started({ namespace: { nameSelector: ['a'] } }, { find });
    expect(lab.api.requests[0]?.path).toBe('/api/v1/configmaps');
  });

  test('equal bindings of several hooks share a watch', async () => {
    await Promise.all([lab.started(), lab.started()]);
    await settle();
    expect([lab.api.count('list'), lab.api.openWatches]).toEqual([1, 1]);
  });
});

describe('events', () => {
  test('are emitted with the object, the last known one for a deletion', async () => {
    (await lab.started()).unlock();
    lab.api.put('a/one', { data: { x: 1 } });
    lab.api.put('a/one', { data: { x: 2 } });
    lab.api.delete('a/one');
    await settle();
    expect(lab.events).toEqual(['Added a/one', 'Modified a/one', 'Deleted a/one']);
    expect(lab.items.map(({ object }) => object?.['data'])).toEqual([{ x: 1 }, { x: 2 }, { x: 2 }]);
    expect(lab.items.every((item) => !('filterResult' in item))).toBe(true);
  });

  test('a deletion noticed only by a list carries the last known state', async () => {
    lab.api.put('a/one', { data: { x: 1 } });
    (await lab.started({ jqFilter: '.data.x' })).unlock();
    await settle();
    lab.api.breakWatches();
    lab.api.delete('a/one');
    lab.api.compact();
    await lab.clock.advance(5_000);
    expect(lab.events).toEqual(['Deleted a/one']);
    expect(lab.items).toMatchObject([{ object: { data: { x: 1 } }, filterResult: 1 }]);
  });

  test('executeOnEvents restricts what is emitted, not the snapshot', async () => {
    const monitor = await lab.started({ executeOnEvents: ['Deleted'] });
    monitor.unlock();
    lab.api.put('a/one');
    await settle();
    expect(monitor.snapshot().map(titleOf)).toEqual(['a/one']);
    lab.api.delete('a/one');
    await settle();
    expect(lab.events).toEqual(['Deleted a/one']);
    expect(monitor.snapshot()).toEqual([]);
  });

  test('without a filter a new resourceVersion alone is a change', async () => {
    lab.api.put('a/one');
    (await lab.started()).unlock();
    lab.api.put('a/one');
    await settle();
    expect(lab.events).toEqual(['Modified a/one']);
  });

  test('with a filter only a new result is a change; the snapshot has the new object all the same', async () => {
    lab.api.put('a/one', { data: { x: 1 } });
    const monitor = await lab.started({ jqFilter: '.data.x' });
    monitor.unlock();
    lab.api.put('a/one', { data: { x: 1, y: 2 } });
    await settle();
    expect(lab.events).toEqual([]);
    expect(monitor.snapshot()).toMatchObject([{ object: { data: { x: 1, y: 2 } }, filterResult: 1 }]);
    lab.api.put('a/one', { data: { x: 2 } });
    await settle();
    expect(lab.events).toEqual(['Modified a/one']);
  });

  test.each([
    ['.data.x', null],
    ['empty', null],
    ['1,2', [1, 2]],
  ])('the filter %s gives %j', async (jqFilter, expected) => {
    lab.api.put('a/one');
    const monitor = await lab.started({ jqFilter });
    expect(monitor.snapshot()).toMatchObject([{ filterResult: expected }]);
  });

  test.each([
    [undefined, {}],
    ['.data.x', { filterResult: 7 }],
  ])('without full objects and with the filter %s items are %j', async (jqFilter, expected) => {
    const monitor = await lab.started({
      keepFullObjects: false,
      ...(jqFilter !== undefined && { jqFilter }),
    });
    monitor.unlock();
    lab.api.put('a/one', { data: { x: 7 } });
    await settle();
    expect(monitor.snapshot()).toEqual([expected]);
    lab.api.put('a/one', { data: { x: 7, y: 1 } });
    lab.api.delete('a/one');
    await settle();
    expect(lab.items).toEqual(jqFilter === undefined ? [{}, {}, {}] : [expected, expected]);
  });

  test('operations on the snapshot are counted since the start and since the last run', async () => {
    lab.api.put('a/there-before');
    const monitor = await lab.started({ executeOnEvents: [] });
    lab.api.put('a/one');
    lab.api.put('a/one', { data: { x: 1 } });
    await settle();
    monitor.snapshot();
    lab.api.put('a/two');
    lab.api.delete('a/one');
    await settle();
    expect(monitor.peek()).toHaveLength(2);
    expect(monitor.operations()).toEqual({
      sinceLastExecution: { count: 2, added: 1, deleted: 1, modified: 0, cleaned: 0 },
      sinceStart: { count: 2, added: 2, deleted: 1, modified: 1, cleaned: 0 },
    });
  });

  test('FAULT-A20: of a burst on one object the last state is delivered', async () => {
    (await lab.started()).unlock();
    for (let index = 0; index < 5_000; index += 1) lab.api.put('a/one', { data: { index } });
    for (let round = 0; round < 50 && lab.events.length < 5_000; round += 1) await settle();
    expect(lab.items.at(-1)?.object?.['data']).toEqual({ index: 4_999 });
  });

  test('FAULT-A17: when the kind goes away everything is Deleted; when it is back everything is Added', async () => {
    lab.api.put('a/one');
    (await lab.started()).unlock();
    await settle();
    lab.api.removeKind('configmaps');
    await lab.clock.advance(60_000);
    expect(lab.events).toEqual(['Deleted a/one']);
    lab.api.restoreKind('configmaps');
    lab.api.put('a/two');
    await lab.clock.advance(30_000);
    expect(lab.events).toEqual(['Deleted a/one', 'Added a/two']);
  });

  test('nothing is emitted after stop()', async () => {
    const monitor = await lab.started();
    lab.api.put('a/one');
    await settle();
    await monitor.stop();
    monitor.unlock();
    lab.api.put('a/two');
    await settle();
    expect(lab.events).toEqual([]);
    expect(lab.api.openWatches).toBe(0);
  });

  test('metrics report the number of objects and the time that filter and events took', async () => {
    const seen: string[] = [];
    lab.api.put('a/one');
    const metrics = {
      snapshotObjects: (binding: string, count: number) => seen.push(`${binding} has ${count}`),
      snapshotGone: (binding: string) => seen.push(`${binding} is gone`),
      filterDuration: (binding: string, ms: number) => seen.push(`${binding} filter ${ms}`),
      eventDuration: (binding: string, ms: number) => seen.push(`${binding} event ${ms}`),
    };
    const monitor = await lab.started({ jqFilter: '.data.x' }, { metrics });
    expect(seen).toEqual(['configs filter 0', 'configs has 1']);
    lab.api.delete('a/one');
    await settle();
    expect(seen.slice(2)).toEqual(['configs has 0', 'configs event 0']);
    await monitor.stop();
    expect(seen.slice(4)).toEqual(['configs is gone']);
  });
});

describe('locking', () => {
  test('FAULT-A21: events since the last snapshot are held back and emitted in order by unlock()', async () => {
    const monitor = await lab.started();
    lab.api.put('a/one');
    await settle();
    expect(monitor.snapshot().map(titleOf)).toEqual(['a/one']);
    lab.api.put('a/two');
    lab.api.delete('a/one');
    await settle();
    expect(lab.events).toEqual([]);
    monitor.unlock();
    expect(lab.events).toEqual(['Added a/two', 'Deleted a/one']);
    lab.api.put('a/three');
    await settle();
    expect(lab.events).toHaveLength(3);
  });

  test('without any snapshot all events since the first list are replayed', async () => {
    lab.api.put('a/one');
    const monitor = await lab.started();
    lab.api.put('a/one');
    lab.api.put('a/two');
    await settle();
    monitor.unlock();
    expect(lab.events).toEqual(['Modified a/one', 'Added a/two']);
  });

  test('onlookers see the objects, and no event is dropped for them', async () => {
    const monitor = await lab.started();
    lab.api.put('a/one');
    await settle();
    expect(monitor.peek().map(titleOf)).toEqual(['a/one']);
    monitor.unlock();
    expect(lab.events).toEqual(['Added a/one']);
  });

  test('reading a snapshot after unlock() drops nothing', async () => {
    const monitor = await lab.started();
    monitor.unlock();
    monitor.unlock();
    lab.api.put('a/one');
    monitor.snapshot();
    await settle();
    monitor.snapshot();
    expect(lab.events).toEqual(['Added a/one']);
  });
});
