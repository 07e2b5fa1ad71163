import { expect, test } from 'vitest';
import { configMapBinding, contextHook, contextsOf, untilRuns, watchedMap } from '../support/context-hook.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer } from '../support/world-files.ts';

/** Fails for objects that are marked as bad. */
const jqFilter = 'if .data.bad then error("too bad") else .metadata.name end';

/** Filters of kubernetes bindings that fail; corner case 18 of the hook contract. */
describeLifecycle((backend) => {
  test('a jqFilter that fails on an existing object blocks the start until the object is corrected', async () => {
    await using world = await World.create(backend(), {});
    await world.create('configmaps', watchedMap('one', 'item', { bad: 'yes' }));
    await world.write('global-hooks', {
      'a.sh': contextHook({ kubernetes: [configMapBinding(world.namespace, 'item', { jqFilter })] }),
      'b.sh': announcer('b', { beforeAll: 1 }),
    });
    await world.start();
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await world.log.untilMessage('attempt failed, will retry', attempt);
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(
        new RegExp(`jqFilter of binding "item" to ConfigMap ${world.namespace}/one: .*too bad`),
      );
      if (attempt === 1) await world.passDelay();
    }
    expect(world.log.printed).toEqual([]);
    await world.merge('configmaps', 'one', { data: { bad: null } });
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(contextsOf(world.log, 'a.sh')).toMatchObject([[{ objects: [{ filterResult: 'one' }] }]]);
    expect(world.log.printed.at(-1)).toBe('b beforeAll');
  });

  test('an object whose jqFilter fails keeps its last state until it is corrected, its deletion is an event, and others continue', async () => {
    await using world = await World.create(backend(), {});
    for (const name of ['one', 'two']) await world.create('configmaps', watchedMap(name, 'item'));
    await world.write('global-hooks', {
      'a.sh': contextHook({
        kubernetes: [
          configMapBinding(world.namespace, 'item', {
            jqFilter,
            keepFullObjectsInMemory: false,
            includeSnapshotsFrom: ['item'],
          }),
        ],
      }),
    });
    await world.converge();
    for (const name of ['one', 'two']) await world.merge('configmaps', name, { data: { bad: 'yes' } });
    await world.create('configmaps', watchedMap('three', 'item'));
    await untilRuns(world.log, 'a.sh', 2);
    const snapshotOf = (...names: readonly string[]) => ({
      item: names.map((name) => ({ filterResult: name })),
    });
    const event = { binding: 'item', type: 'Event' };
    expect(contextsOf(world.log, 'a.sh').at(-1)).toEqual([
      {
        ...event,
        watchEvent: 'Added',
        filterResult: 'three',
        snapshots: snapshotOf('one', 'three', 'two'),
      },
    ]);
    const failed = world.log.records.filter(({ msg }) => String(msg).startsWith('filter failed'));
    expect(failed.map(({ object }) => object)).toEqual([`${world.namespace}/one`, `${world.namespace}/two`]);
    expect(failed[0]).toMatchObject({ level: 'error', hook: 'a.sh', 'binding.name': 'item' });
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'one') });
    await untilRuns(world.log, 'a.sh', 3);
    expect(contextsOf(world.log, 'a.sh').at(-1)).toEqual([
      { ...event, watchEvent: 'Deleted', filterResult: 'one', snapshots: snapshotOf('three', 'two') },
    ]);
  });
});

describeApiIndependent((backend) => {
  test('a jqFilter that does not compile fails the start, with binding and reason', async () => {
    await using world = await World.create(backend(), {});
    await world.write('global-hooks', {
      'a.sh': contextHook({ kubernetes: [configMapBinding(world.namespace, 'item', { jqFilter: '.a[' })] }),
    });
    await expect(world.start()).rejects.toThrow(
      /a\.sh.*invalid kubernetes config \[0\]: jqFilter: compile jqFilter: /s,
    );
  });
});
