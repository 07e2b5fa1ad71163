import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { item, itemsHook, itemsSeen, untilSeen } from '../support/items-hook.ts';
import { type Backend, World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

describeCluster('a daemon whose requests fail', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  async function proxied(world: World): Promise<FaultProxy> {
    const proxy = await FaultProxy.start(cluster().access);
    await writeFile(join(world.directory, 'proxied'), proxy.kubeconfig);
    return proxy;
  }

  function start(world: World): DaemonProcess {
    return DaemonProcess.start(world, { 'kube-config': join(world.directory, 'proxied') });
  }

  /** A world whose hook watches items, of which `a` exists. */
  async function itemsWorld(): Promise<World> {
    const world = await World.create(backend, {});
    await world.write('global-hooks', { 'items.sh': itemsHook(world.namespace) });
    await world.create('configmaps', item('a'));
    return world;
  }

  /** Requests of the items hook. */
  const ITEMS = { path: /configmaps$/, query: /item/ };

  // FAULT-A6, A7, P3
  test.each([20, 400])(
    'a hook gets a complete snapshot although the first list was cut after %i bytes',
    async (bytes) => {
      await using world = await itemsWorld();
      for (const name of ['b', 'c', 'd']) await world.create('configmaps', item(name));
      await using proxy = await proxied(world);
      const cut = proxy.add({ verb: 'list', ...ITEMS, times: 1 }, { type: 'cut-after-bytes', bytes });
      await using daemon = start(world);
      await daemon.untilConverged();
      expect([cut.hits, itemsSeen(daemon.log)]).toEqual([1, ['Synchronization a,b,c,d']]);
    },
  );

  // FAULT-A8, P2
  test('delivers an event once although the watch was cut in the middle of its line', async () => {
    await using world = await itemsWorld();
    await using proxy = await proxied(world);
    const cut = proxy.add({ verb: 'watch', ...ITEMS, times: 1 }, { type: 'cut-after-bytes', bytes: 100 });
    await using daemon = start(world);
    await daemon.untilConverged();
    await world.create('configmaps', item('b'));
    await untilSeen(daemon.log, 'Added b');
    await world.create('configmaps', item('c'));
    await untilSeen(daemon.log, 'Added c');
    expect(cut.hits).toBe(1);
    expect(itemsSeen(daemon.log)).toEqual(['Synchronization a', 'Added b', 'Added c']);
  });

  // FAULT-A4, A5, P2
  test('relists after 410 on a watch, and reports what was added and deleted in the meantime', async () => {
    await using world = await itemsWorld();
    await using proxy = await proxied(world);
    await using daemon = start(world);
    await daemon.untilConverged();
    await proxy.disconnect();
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'a') });
    await world.create('configmaps', item('b'));
    const expired = proxy.add({ verb: 'watch', ...ITEMS, times: 1 }, { type: 'status', status: 410 });
    await proxy.connect();
    await untilSeen(daemon.log, 'Deleted a');
    await untilSeen(daemon.log, 'Added b');
    // Where a reconnection failed meanwhile, the list comes first.
    await vi.waitFor(() => expect(expired.hits).toBe(1), { timeout: 60_000, interval: 50 });
    expect(itemsSeen(daemon.log)).toEqual(['Synchronization a', 'Deleted a', 'Added b']);
  });

  // FAULT-A11
  test('waits as long as a 429 on a watch requires, and does not relist', async () => {
    await using world = await itemsWorld();
    await using proxy = await proxied(world);
    await using daemon = start(world);
    await daemon.untilConverged();
    const busy = proxy.add(
      { verb: 'watch', ...ITEMS, times: 2 },
      { type: 'status', status: 429, retryAfterSeconds: 1 },
    );
    const before = proxy.calls.length;
    proxy.resetConnections();
    await world.create('configmaps', item('b'));
    await untilSeen(daemon.log, 'Added b');
    const calls = proxy.calls.slice(before).filter(({ query }) => ITEMS.query.test(query));
    expect(busy.hits).toBe(2);
    expect(calls.filter(({ query }) => query.includes('limit=500'))).toEqual([]);
    const watches = calls.filter(({ verb }) => verb === 'watch');
    expect(watches.map(({ status }) => status)).toEqual([429, 429, 200]);
    const [first, second, third] = watches.map(({ atMs }) => atMs);
    expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(1_000);
    expect(Number(third) - Number(second)).toBeGreaterThanOrEqual(1_000);
  });

  // FAULT-A13, P19
  test('reads before it repeats a write that got 504: one effect, no failed task', async () => {
    await using world = await World.create(backend, {
      config: { global: 'a: 1\n' },
      globalHooks: {
        'make.sh': shHook(
          'onStartup: 1',
          `
echo "hook runs"
echo '{"operation":"Create","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"made","namespace":"'$NAMESPACE'"}}}' > "$KUBERNETES_PATCH_PATH"
echo '{"op":"add","path":"/global/list","value":[]}{"op":"add","path":"/global/list/-","value":1}' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
        ),
      },
    });
    await using proxy = await proxied(world);
    const created = proxy.add(
      { verb: 'create', path: /configmaps$/, times: 1 },
      { type: 'apply-then-fail', status: 504 },
    );
    const saved = proxy.add(
      { verb: 'update', path: /configmaps\/addon-operator$/, times: 1 },
      { type: 'apply-then-fail', status: 504 },
    );
    await using daemon = start(world);
    await daemon.untilConverged();
    expect([created.hits, saved.hits, daemon.log.printed]).toEqual([1, 1, ['hook runs']]);
    expect(await world.get('configmaps', 'made')).toBeDefined();
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({
      data: { global: 'a: 1\nlist:\n    - 1\n' },
    });
  });

  // FAULT-A18, H7, P12
  test('saves into the ConfigMap without losing an edit between its read and its write', async () => {
    await using world = await World.create(backend, {
      config: { global: 'a: 1\n' },
      globalHooks: {
        'save.sh': shHook(
          'onStartup: 1',
          `echo '{"op":"add","path":"/global/byHook","value":1}' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
        ),
      },
    });
    await using proxy = await proxied(world);
    const held = proxy.add(
      { verb: 'update', path: /configmaps\/addon-operator$/, times: 1 },
      { type: 'hold' },
    );
    await using daemon = start(world);
    await held.untilHit();
    await world.putConfig({ global: 'a: 2\nbyPerson: 1\n', other: 'x: 1\n' });
    held.release();
    await daemon.untilConverged();
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({
      data: { global: 'a: 2\nbyHook: 1\nbyPerson: 1\n', other: 'x: 1\n' },
    });
  });

  // FAULT-A10, P3
  test('distinguishes an object from a deleted one of the same name', async () => {
    await using world = await itemsWorld();
    await using proxy = await proxied(world);
    await using daemon = start(world);
    await daemon.untilConverged();
    await proxy.disconnect();
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'a') });
    await world.create('configmaps', item('a'));
    proxy.add({ verb: 'watch', ...ITEMS, times: 1 }, { type: 'status', status: 410 });
    await proxy.connect();
    await untilSeen(daemon.log, 'Added a');
    expect(itemsSeen(daemon.log)).toEqual(['Synchronization a', 'Deleted a', 'Added a']);
  });

  // FAULT-A16
  test('names missing permissions, and continues when they are granted', async () => {
    await using world = await itemsWorld();
    await using proxy = await proxied(world);
    const forbidden = proxy.add({ verb: 'list', ...ITEMS, times: 1 }, { type: 'status', status: 403 });
    await using daemon = start(world);
    const failure = await daemon.record('attempt failed, will retry');
    expect(failure).toMatchObject({
      hook: 'items.sh',
      error: expect.stringMatching(`GET /api/v1/namespaces/${world.namespace}/configmaps: 403 Forbidden`),
    });
    await untilSeen(daemon.log, 'Synchronization a');
    expect([forbidden.hits, itemsSeen(daemon.log)]).toEqual([1, ['Synchronization a']]);
  });

  // FAULT-A3, A9, P4
  test('detects within 75 s that a watch is silent, and relists', async () => {
    await using proxy = await FaultProxy.start(cluster().access);
    const directory = await mkdtemp(join(tmpdir(), 'proxied-'));
    const kubeconfigPath = join(directory, 'kubeconfig');
    await writeFile(kubeconfigPath, proxy.kubeconfig);
    await using world = await World.create({ ...backend, kubeconfigPath }, {});
    await world.write('global-hooks', { 'items.sh': itemsHook(world.namespace) });
    await world.converge();
    await world.log.until(() => itemsSeen(world.log).length === 1);
    proxy.freeze();
    await world.create('configmaps', item('a'));
    world.clock.jump(75_000);
    await world.log.until((records) => records.some(({ reason }) => reason === 'idle'));
    proxy.thaw();
    await untilSeen(world.log, 'Added a');
    expect(itemsSeen(world.log)).toEqual(['Synchronization ', 'Added a']);
    await rm(directory, { recursive: true });
  });
});
