import { expect, test, vi } from 'vitest';
import { configMapBinding, contextHook, contextsOf, untilRuns, watchedMap } from '../support/context-hook.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { untilTasks } from '../support/until-tasks.ts';
import { World } from '../support/world.ts';

const NAMES = { jqFilter: '.metadata.name', executeHookOnSynchronization: false, queue: 'q' };

/** Which events run a hook, and when; corner cases 38 to 40 and 76 to 78 of the hook contract. */
describeLifecycle((backend) => {
  test('events that run no hook are in the snapshot: unwanted ones, and those with an unchanged filter result', async () => {
    await using world = await World.create(backend(), {});
    await world.create('configmaps', watchedMap('one', 'item', { v: '1' }));
    await world.write('global-hooks', {
      'a.sh': contextHook({
        kubernetes: [
          configMapBinding(world.namespace, 'item', { ...NAMES, executeHookOnEvent: [], name: 'never' }),
          configMapBinding(world.namespace, 'item', {
            ...NAMES,
            executeHookOnEvent: ['Added', 'Modified'],
            includeSnapshotsFrom: ['item', 'never'],
          }),
        ],
      }),
    });
    await world.converge();
    await world.merge('configmaps', 'one', { data: { v: '2' } });
    const [hook] = world.daemon.operator.globalHooks.runtimes;
    const modified = (index: number) => hook?.operations(index).sinceStart.modified;
    await vi.waitFor(() => expect([modified(0), modified(1)]).toEqual([1, 1]), 60_000);
    await world.create('configmaps', watchedMap('two', 'item', { v: '1' }));
    await untilRuns(world.log, 'a.sh', 1);
    const snapshot = [
      { object: { data: { v: '2' } }, filterResult: 'one' },
      { object: { data: { v: '1' } }, filterResult: 'two' },
    ];
    expect(contextsOf(world.log, 'a.sh')).toMatchObject([
      [{ watchEvent: 'Added', filterResult: 'two', snapshots: { item: snapshot, never: snapshot } }],
    ]);
  });

  test('a deletion runs the hook with the last known object', async () => {
    await using world = await World.create(backend(), {});
    await world.create('configmaps', watchedMap('one', 'item', { v: '1' }));
    await world.write('global-hooks', {
      'a.sh': contextHook({ kubernetes: [configMapBinding(world.namespace, 'item', NAMES)] }),
    });
    await world.converge();
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'one') });
    await untilRuns(world.log, 'a.sh', 1);
    expect(contextsOf(world.log, 'a.sh')).toMatchObject([
      [{ watchEvent: 'Deleted', object: { metadata: { name: 'one' }, data: { v: '1' } } }],
    ]);
  });
});

describeApiIndependent((backend) => {
  test('of ten quick events a hook with a rate limit gets one at once and the rest together after the interval', async () => {
    await using world = await World.create(backend(), {});
    await world.write('global-hooks', {
      'a.sh': contextHook({
        kubernetes: [configMapBinding(world.namespace, 'item', NAMES)],
        settings: { executionMinInterval: '10m', executionBurst: 1 },
      }),
      'b.sh': contextHook({
        kubernetes: [configMapBinding(world.namespace, 'item', { ...NAMES, queue: 'other' })],
      }),
    });
    await world.converge();
    // The Synchronization that is skipped took a token, too.
    world.clock.jump(10 * 60_000);
    await world.create('configmaps', watchedMap('m0', 'item'));
    await untilRuns(world.log, 'a.sh', 1);
    for (let index = 1; index < 10; index += 1)
      await world.create('configmaps', watchedMap(`m${index}`, 'item'));
    await untilTasks(world, 'q', 9);
    await world.log.until(() => contextsOf(world.log, 'b.sh').flat().length === 10);
    expect(contextsOf(world.log, 'a.sh')).toHaveLength(1);
    world.clock.jump(10 * 60_000);
    await untilRuns(world.log, 'a.sh', 2);
    const names = contextsOf(world.log, 'a.sh').map((run) => run.map(({ filterResult }) => filterResult));
    expect(names).toEqual([['m0'], ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9']]);
  });

  test('an allowed failure drops no event of another binding, and a failing queue blocks no other', async () => {
    await using world = await World.create(backend(), {});
    const item = (label: string, fields: object = {}) =>
      configMapBinding(world.namespace, label, { ...NAMES, ...fields });
    await world.write('global-hooks', {
      'block.sh': contextHook(
        { kubernetes: [item('block')] },
        'echo block; while [ ! -e "$WORLD/go" ]; do sleep 0.02; done',
      ),
      'fail.sh': contextHook(
        { kubernetes: [item('may', { allowFailure: true }), item('must')] },
        'echo failing; exit 1',
      ),
      'side.sh': contextHook({ kubernetes: [item('side', { queue: 'other' })] }),
    });
    await world.converge();
    await world.create('configmaps', watchedMap('block', 'block'));
    await world.log.untilPrinted('block');
    for (const [index, label] of ['may', 'must'].entries()) {
      await world.create('configmaps', watchedMap(label, label));
      await untilTasks(world, 'q', index + 2);
    }
    await world.write('modules', { '../go': '' });
    await world.log.untilMessage('hook failed, but the failure is allowed');
    await world.untilDelayed('q');
    expect(world.daemon.operator.queues.get('q').length).toBe(1);
    await world.create('configmaps', watchedMap('side', 'side'));
    await untilRuns(world.log, 'side.sh', 1);
    expect(world.log.printed.filter((line) => line === 'failing')).toHaveLength(2);
  });
});
