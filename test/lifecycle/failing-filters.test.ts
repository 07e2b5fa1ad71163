import { expect, test } from 'vitest';
import { configMapBinding, contextHook, contextsOf, untilRuns, watchedMap } from '../support/context-hook.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer } from '../support/world-files.ts';

/** Fails for objects that are marked as bad. */
const jqFilter = 'if .data.bad then error("too bad") else .metadata.name end';

/** Filters of kubernetes bindings that fail; corner case 18 of the hook contract. */
describeLifecycle((backend) => {
  test('an existing object on which a jqFilter fails is set aside and shown, and is Added when it is corrected', async () => {
    await using world = await World.create(backend(), {});
    await world.create('configmaps', watchedMap('one', 'item', { bad: 'yes' }));
    await world.create('configmaps', watchedMap('two', 'item'));
    await world.write('global-hooks', {
      'a.sh': contextHook({ kubernetes: [configMapBinding(world.namespace, 'item', { jqFilter })] }),
      'b.sh': announcer('b', { beforeAll: 1 }),
    });
    await world.converge();
    expect(contextsOf(world.log, 'a.sh')).toMatchObject([[{ objects: [{ filterResult: 'two' }] }]]);
    expect(world.log.printed.at(-1)).toBe('b beforeAll');
    const page = async (path: string): Promise<string> =>
      (await fetch(`http://127.0.0.1:${world.daemon.httpPort}${path}`)).text();
    const shown = `global hook 'a.sh', kubernetes binding 'item' does not have the last state of ${world.namespace}/one`;
    expect(await page('/status')).toContain(shown);
    expect(await page('/metrics')).toMatch(/kube_jq_filter_failed_objects\{[^}]*hook="a\.sh"[^}]*\} 1/);
    expect(world.log.records.filter(({ msg }) => String(msg).startsWith('filter failed'))).toMatchObject([
      {
        level: 'error',
        msg: 'filter failed, the object is left out until a retry succeeds',
        object: `${world.namespace}/one`,
        hook: 'a.sh',
        error: expect.stringContaining('too bad'),
      },
    ]);
    await world.merge('configmaps', 'one', { data: { bad: null } });
    await untilRuns(world.log, 'a.sh', 2);
    expect(contextsOf(world.log, 'a.sh').at(-1)).toMatchObject([
      { watchEvent: 'Added', filterResult: 'one' },
    ]);
    expect(await page('/status')).not.toContain(shown);
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
