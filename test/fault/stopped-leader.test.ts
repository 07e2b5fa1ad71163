import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { hangingChart, releaseStatuses, untilHanging } from '../support/hanging-chart.ts';
import {
  BEATING_HOOK,
  BEATING_SCRIPT,
  expectSteppedDown,
  gapMs,
  leaseOf,
  Replicas,
  untilBeating,
  untilLeading,
} from '../support/replicas.ts';
import { type Backend, World } from '../support/world.ts';
import { type FileTree, shHook, under } from '../support/world-files.ts';
import { untilNoProcesses } from '../support/world-processes.ts';

const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];

describeCluster('two replicas, of which the leader is stopped (SIGSTOP)', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  // FAULT-L1, P20
  test.each<[string, FileTree]>([
    ['a hook', { 'beat.sh': BEATING_HOOK }],
    ['an in-process hook', { 'beat.mjs': BEATING_SCRIPT }],
  ])(
    '%s of a leader that is stopped (SIGSTOP) ends before the standby begins; when resumed, the leader writes nothing and exits',
    async (_case, globalHooks) => {
      await using world = await World.create(backend, { globalHooks });
      await using proxy = await FaultProxy.start(cluster().access);
      const replicas = await Replicas.on(world);
      await using one = await replicas.start(1, proxy);
      await untilBeating(world, 1);
      await using _two = await replicas.start(2);
      one.signal('SIGSTOP');
      await untilBeating(world, 2);
      expect(await gapMs(world)).toBeGreaterThan(0);
      const before = proxy.calls.length;
      one.signal('SIGCONT');
      await expectSteppedDown(one, 'could not be renewed in time');
      expect(await gapMs(world)).toBeGreaterThan(0);
      expect(proxy.calls.slice(before).filter(({ verb }) => WRITES.includes(verb))).toEqual([]);
      expect(await leaseOf(world)).toMatchObject({ holderIdentity: expect.stringMatching(/^pod-2\./) });
    },
  );

  // FAULT-L1, P20
  test('a leader that is stopped (SIGSTOP) between two object patches of a hook does not send the second when resumed', async () => {
    const object = (name: string) =>
      `{"operation":"CreateOrUpdate","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","namespace":"'$NAMESPACE'"}}}`;
    await using world = await World.create(backend, {
      globalHooks: {
        'make.sh': shHook(
          'onStartup: 1',
          `echo '${object('one')}' > "$KUBERNETES_PATCH_PATH"; echo '${object('two')}' >> "$KUBERNETES_PATCH_PATH"`,
        ),
      },
    });
    await using proxy = await FaultProxy.start(cluster().access);
    const held = proxy.add({ verb: 'create', path: /configmaps$/, times: 1 }, { type: 'hold' });
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1, proxy);
    await held.untilHit();
    one.signal('SIGSTOP');
    await using two = await replicas.start(2);
    await untilLeading(two);
    held.release();
    await vi.waitFor(
      () => expect(proxy.calls.find(({ fault }) => fault === 'hold')?.status).not.toBeNull(),
      60_000,
    );
    const before = proxy.calls.length;
    one.signal('SIGCONT');
    await expectSteppedDown(one, 'could not be renewed in time');
    expect(proxy.calls.slice(before).filter(({ verb }) => WRITES.includes(verb))).toEqual([]);
    await two.untilConverged();
    expect(await world.get('configmaps', 'two')).toBeDefined();
  });

  // FAULT-L2
  test('helm of a leader that is stopped (SIGSTOP) is ended, and the standby repairs the release', async () => {
    await using world = await World.create(backend, {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', hangingChart('web', 'web')) },
      config: { web: 'hangs: true\n' },
    });
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1);
    await untilHanging(world, 'web');
    await world.putConfig({ web: 'hangs: false\n' });
    one.signal('SIGSTOP');
    await untilNoProcesses(world);
    await using two = await replicas.start(2);
    await untilLeading(two);
    one.signal('SIGCONT');
    await expectSteppedDown(one, 'could not be renewed in time');
    await two.untilConverged();
    expect((await releaseStatuses(world, 'web')).at(-1)).toBe('deployed');
  });
});
