import { describe, expect, test, vi } from 'vitest';
import { configMapBinding, contextHook, contextsOf, untilRuns, watchedMap } from '../support/context-hook.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';

const WAIT_FOR = (file: string): string => `while [ ! -e "$WORLD/${file}" ]; do sleep 0.02; done`;
const NAMES = { jqFilter: '.metadata.name', keepFullObjectsInMemory: false };

const names = (items: unknown): unknown =>
  (items as readonly { readonly filterResult: unknown }[]).map(({ filterResult }) => filterResult);

async function touch(world: World, file: string): Promise<void> {
  await world.write('modules', { [`../${file}`]: '' });
}

/** Waits until the monitor of a binding of the only global hook has seen so many additions. */
async function untilAdded(world: World, bindingIndex: number, count: number): Promise<void> {
  const [hook] = world.daemon.operator.globalHooks.runtimes;
  await vi.waitFor(() => expect(hook?.operations(bindingIndex).sinceStart.added).toBe(count), 60_000);
}

/** What hooks receive; corner cases 32 to 47 of the hook contract. */
describeLifecycle((backend) => {
  describe('binding contexts', () => {
    test('Synchronizations of one queue are one run; empty bindings, dropped objects and filter results have their forms', async () => {
      await using world = await World.create(backend(), {});
      const binding = (name: string, fields: object = {}) =>
        configMapBinding(world.namespace, 'one', { name, ...fields });
      await world.create('configmaps', watchedMap('b', 'one', { x: '1' }));
      await world.create('configmaps', watchedMap('a', 'one', { x: '2' }));
      await world.write('global-hooks', {
        'a.sh': contextHook({
          kubernetes: [
            configMapBinding(world.namespace, 'none', { includeSnapshotsFrom: ['none'] }),
            binding('bare', { keepFullObjectsInMemory: false }),
            binding('sorted', NAMES),
            binding('missing', { ...NAMES, jqFilter: '.data.y' }),
            binding('several', { ...NAMES, jqFilter: '.metadata.name, 2' }),
            binding('nothing', { ...NAMES, jqFilter: 'empty' }),
          ],
        }),
      });
      await world.converge();
      const synchronization = (name: string, objects: unknown, more = {}) => ({
        binding: name,
        type: 'Synchronization',
        objects,
        ...more,
      });
      expect(contextsOf(world.log, 'a.sh')).toEqual([
        [
          synchronization('none', [], { snapshots: { none: [] } }),
          synchronization('bare', [{}, {}]),
          synchronization('sorted', [{ filterResult: 'a' }, { filterResult: 'b' }]),
          synchronization('missing', [{ filterResult: null }, { filterResult: null }]),
          synchronization('several', [{ filterResult: ['a', 2] }, { filterResult: ['b', 2] }]),
          synchronization('nothing', [{ filterResult: null }, { filterResult: null }]),
        ],
      ]);
    });

    test('waiting events become one run, and consecutive contexts of one group become one context with its snapshots', async () => {
      await using world = await World.create(backend(), {});
      const more = { queue: 'q', executeHookOnSynchronization: false, ...NAMES };
      await world.write('global-hooks', {
        'block.sh': contextHook(
          { kubernetes: [configMapBinding(world.namespace, 'block', more)] },
          `echo block; ${WAIT_FOR('go')}`,
        ),
        'groups.sh': contextHook({
          kubernetes: [
            configMapBinding(world.namespace, 'g', { ...more, group: 'web' }),
            configMapBinding(world.namespace, 'x', more),
          ],
        }),
        'ticks.sh': contextHook({
          schedule: [{ crontab: '* * * * * *', group: 'alone', queue: 'ticks' }],
        }),
      });
      await world.converge();
      await world.create('configmaps', watchedMap('block', 'block'));
      await world.log.untilPrinted('block');
      const queue = world.daemon.operator.queues.get('q');
      for (const [index, label] of ['g', 'g', 'x', 'g'].entries()) {
        await world.create('configmaps', watchedMap(`${label}${index}`, label));
        await world.log.until(() => queue.length === index + 2);
      }
      await touch(world, 'go');
      await untilRuns(world.log, 'groups.sh', 1);
      const grouped = {
        binding: 'g',
        type: 'Group',
        groupName: 'web',
        snapshots: { g: [{ filterResult: 'g0' }, { filterResult: 'g1' }, { filterResult: 'g3' }] },
      };
      expect(contextsOf(world.log, 'groups.sh')[0]).toEqual([
        grouped,
        { binding: 'x', type: 'Event', watchEvent: 'Added', filterResult: 'x2' },
        grouped,
      ]);
      world.clock.jump(1_000);
      await untilRuns(world.log, 'ticks.sh', 1);
      expect(contextsOf(world.log, 'ticks.sh')[0]?.[0]).toEqual({
        binding: 'schedule',
        type: 'Group',
        groupName: 'alone',
      });
    });

    test('a change before the Synchronization is in its objects, and a change during its run is one event after it', async () => {
      await using world = await World.create(backend(), {});
      const more = { ...NAMES, queue: 'q' };
      await world.write('global-hooks', {
        'sync.sh': contextHook(
          {
            kubernetes: [
              configMapBinding(world.namespace, 'gate', { ...more, waitForSynchronization: false }),
              configMapBinding(world.namespace, 'item', more),
              configMapBinding(world.namespace, 'item', {
                ...more,
                name: 'quiet',
                executeHookOnSynchronization: false,
              }),
            ],
          },
          `n=$(ls "$WORLD"/run-* 2>/dev/null | wc -l); : > "$WORLD/run-$n"; echo "run $n"
[ $n -gt 1 ] || ${WAIT_FOR('go-$n')}`,
        ),
      });
      await world.start();
      await world.log.untilPrinted('run 0');
      await world.create('configmaps', watchedMap('before', 'item'));
      await untilAdded(world, 1, 1);
      await untilAdded(world, 2, 1);
      await touch(world, 'go-0');
      await world.log.untilPrinted('run 1');
      await world.create('configmaps', watchedMap('during', 'item'));
      await untilAdded(world, 1, 2);
      await untilAdded(world, 2, 2);
      await touch(world, 'go-1');
      await world.daemon.firstConverge;
      await world.daemon.operator.queues.get('q').untilEmpty();
      await world.create('configmaps', watchedMap('after', 'item'));
      await world.log.until(() => contextsOf(world.log, 'sync.sh').flat().length === 7);
      const contexts = contextsOf(world.log, 'sync.sh').flat();
      expect(contexts.filter(({ type }) => type === 'Synchronization')).toEqual([
        { binding: 'gate', type: 'Synchronization', objects: [] },
        { binding: 'item', type: 'Synchronization', objects: [{ filterResult: 'before' }] },
      ]);
      const events = (binding: string) =>
        contexts.filter((each) => each['binding'] === binding && each['type'] === 'Event');
      expect(names(events('item'))).toEqual(['during', 'after']);
      expect(names(events('quiet'))).toEqual(['before', 'during', 'after']);
    });

    test('a retry has the object of its event and current snapshots', async () => {
      await using world = await World.create(backend(), {});
      await world.write('global-hooks', {
        'retry.sh': contextHook(
          {
            kubernetes: [
              configMapBinding(world.namespace, 'item', {
                jqFilter: '.data.v',
                executeHookOnSynchronization: false,
                executeHookOnEvent: ['Added'],
                includeSnapshotsFrom: ['item'],
                queue: 'q',
              }),
            ],
          },
          '[ -e "$WORLD/fine" ] || exit 1',
        ),
      });
      await world.converge();
      await world.create('configmaps', watchedMap('one', 'item', { v: 'old' }));
      await world.untilDelayed('q');
      await world.merge('configmaps', 'one', { data: { v: 'new' } });
      const [hook] = world.daemon.operator.globalHooks.runtimes;
      await vi.waitFor(() => expect(hook?.operations(0).sinceStart.modified).toBe(1), 60_000);
      await touch(world, 'fine');
      await world.passDelay('q');
      await untilRuns(world.log, 'retry.sh', 1);
      expect(contextsOf(world.log, 'retry.sh')[0]).toMatchObject([
        {
          watchEvent: 'Added',
          object: { data: { v: 'old' } },
          filterResult: 'old',
          snapshots: { item: [{ object: { data: { v: 'new' } }, filterResult: 'new' }] },
        },
      ]);
    });

    test('an object and a namespace that start or stop to match are Added and Deleted', async () => {
      await using world = await World.create(backend(), {});
      const other = `${world.namespace}-other`;
      const label = (name: string, watched: string | null) =>
        world.expect({
          method: 'PATCH',
          path: `/api/v1/namespaces/${name}`,
          body: { metadata: { labels: { [`watched-${world.namespace}`]: watched } } },
          contentType: 'application/merge-patch+json',
        });
      await world.expect({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: other } } });
      await world.expect({
        method: 'POST',
        path: `/api/v1/namespaces/${other}/configmaps`,
        body: watchedMap('there', 'item'),
      });
      await world.write('global-hooks', {
        'a.sh': contextHook({
          kubernetes: [
            configMapBinding(world.namespace, 'item', {
              ...NAMES,
              namespace: { labelSelector: { matchLabels: { [`watched-${world.namespace}`]: 'yes' } } },
            }),
          ],
        }),
      });
      await label(world.namespace, 'yes');
      await world.create('configmaps', watchedMap('here', 'other'));
      await world.converge();
      const steps: readonly (() => Promise<unknown>)[] = [
        () => world.merge('configmaps', 'here', { metadata: { labels: { watched: 'item' } } }),
        () => world.merge('configmaps', 'here', { metadata: { labels: { watched: 'other' } } }),
        () => label(other, 'yes'),
        () => label(other, null),
      ];
      for (const [index, step] of steps.entries()) {
        await step();
        await untilRuns(world.log, 'a.sh', index + 2);
      }
      await world.expect({ method: 'DELETE', path: `/api/v1/namespaces/${other}` });
      expect(contextsOf(world.log, 'a.sh').map(([context]) => context)).toMatchObject([
        { type: 'Synchronization', objects: [] },
        { watchEvent: 'Added', filterResult: 'here' },
        { watchEvent: 'Deleted', filterResult: 'here' },
        { watchEvent: 'Added', filterResult: 'there' },
        { watchEvent: 'Deleted', filterResult: 'there' },
      ]);
    });
  });
});

describeApiIndependent((backend) => {
  describe('binding contexts', () => {
    test('lifecycle bindings have the snapshots of the hook, {} without any; onStartup has none', async () => {
      await using world = await World.create(backend(), {});
      await world.write('modules', {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/plain.sh': contextHook({ onStartup: 1, beforeHelm: 1, afterHelm: 1 }),
        '001-web/hooks/watching.sh': contextHook({
          afterHelm: 2,
          kubernetes: [configMapBinding(world.namespace, 'item', NAMES)],
        }),
      });
      await world.converge();
      expect(contextsOf(world.log, 'plain.sh')).toEqual([
        [{ binding: 'onStartup' }],
        [{ binding: 'beforeHelm', snapshots: {} }],
        [{ binding: 'afterHelm', snapshots: {} }],
      ]);
      expect(contextsOf(world.log, 'watching.sh').at(-1)).toEqual([
        { binding: 'afterHelm', snapshots: { item: [] } },
      ]);
    });
  });
});
