import { expect, test } from 'vitest';
import { configMapBinding, contextHook, contextsOf, untilRuns, watchedMap } from '../support/context-hook.ts';
import { type Backend, World } from '../support/world.ts';
import { announcer } from '../support/world-files.ts';

/** Fails for objects that are marked as bad. */
const jqFilter = 'if .data.bad then error("too bad") else .metadata.name end';

/** Filters of kubernetes bindings that fail; corner case 18 of the hook contract. */
export function failingFilterTests(backend: () => Backend): void {
  test('a jqFilter that does not compile stops the start, with binding and reason', async () => {
    await using world = await World.create(backend(), {});
    await world.write('global-hooks', {
      'a.sh': contextHook({ kubernetes: [configMapBinding(world.namespace, 'item', { jqFilter: '.a[' })] }),
    });
    await expect(world.start()).rejects.toThrow(
      /a\.sh.*invalid kubernetes config \[0\]: jqFilter: compile jqFilter: /s,
    );
  });

  test('a jqFilter that fails on an object that exists holds up the start until the object is mended', async () => {
    await using world = await World.create(backend(), {});
    await world.create('configmaps', watchedMap('one', 'item', { bad: 'yes' }));
    await world.write('global-hooks', {
      'a.sh': contextHook({ kubernetes: [configMapBinding(world.namespace, 'item', { jqFilter })] }),
      'b.sh': announcer('b', { beforeAll: 1 }),
    });
    await world.start();
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await world.log.untilMessage('attempt will be repeated', attempt);
      expect(world.daemon.operator.main.entries[0]?.lastError).toMatch(
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

  test('events on which a jqFilter fails are dropped and logged, the snapshot stays as it was, and others go on', async () => {
    await using world = await World.create(backend(), {});
    await world.create('configmaps', watchedMap('one', 'item'));
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
    await world.merge('configmaps', 'one', { data: { bad: 'yes' } });
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'one') });
    await world.create('configmaps', watchedMap('two', 'item'));
    await untilRuns(world.log, 'a.sh', 2);
    expect(contextsOf(world.log, 'a.sh').at(-1)).toEqual([
      {
        binding: 'item',
        type: 'Event',
        watchEvent: 'Added',
        filterResult: 'two',
        snapshots: { item: [{ filterResult: 'one' }, { filterResult: 'two' }] },
      },
    ]);
    const dropped = world.log.records.filter(({ msg }) => msg === 'event dropped, filter failed');
    expect(dropped).toHaveLength(2);
    expect(dropped[0]).toMatchObject({ level: 'error', hook: 'a.sh', 'binding.name': 'item' });
  });
}
