import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import type { Cluster } from '../support/control-plane/global-setup.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import type { FaultMatch } from '../support/fault-rule.ts';
import { hangingChart, releaseStatuses, untilHanging } from '../support/hanging-chart.ts';
import { item, itemsHook, itemsSeen, untilSeen } from '../support/items-hook.ts';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';
import { childrenOf, processesOf } from '../support/world-processes.ts';

async function isDeployed(world: World, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    expect(await world.get('configmaps', name)).toBeDefined();
    expect((await releaseStatuses(world, name)).at(-1)).toBe('deployed');
  }
}

/** Lets a daemon run up to a request that the API server never gets to see, and kills it there. */
async function killAt(match: FaultMatch, world: World, { access }: Cluster): Promise<void> {
  await using proxy = await FaultProxy.start(access);
  await writeFile(join(world.directory, 'proxied'), proxy.kubeconfig);
  const held = proxy.add(match, { type: 'hold' });
  await using daemon = DaemonProcess.start(world, { 'kube-config': join(world.directory, 'proxied') });
  await held.untilHit();
  await daemon.kill();
  await proxy.disconnect();
}

/** Directories of runs in the directory for temporary files. */
async function leftovers(world: World): Promise<readonly string[]> {
  const names = await readdir(join(world.directory, 'tmp'), { recursive: true });
  return names.filter((name) => /^(helm\/)?run-[^/]*$/.test(name));
}

describeCluster('after kill -9 of the daemon', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  // FAULT-D1, D11, P1
  test('in a hook: the hook does not survive; a restart synchronizes every hook and deploys every module', async () => {
    await using world = await World.create(backend, {
      modules: {
        'values.yaml': 'oneEnabled: true\ntwoEnabled: true\n',
        ...under('001-one', configMapChart('one', 'one')),
        ...under('002-two', configMapChart('two', 'two')),
        '002-two/hooks/hang.sh': shHook(
          'beforeHelm: 1',
          `
if [ ! -e "$WORLD/restarted" ]; then
  trap '' TERM; sleep 600 & echo "hook runs"; while :; do sleep 600; done
fi`,
        ),
      },
    });
    await world.write('global-hooks', { 'items.sh': itemsHook(world.namespace) });
    await world.write('modules', { '001-one/hooks/items.sh': itemsHook(world.namespace, 'one') });
    await world.create('configmaps', item('a'));
    {
      await using daemon = DaemonProcess.start(world);
      await daemon.log.untilPrinted('hook runs');
      expect(itemsSeen(daemon.log)).toEqual(['Synchronization a']);
      await daemon.kill();
    }
    await vi.waitFor(async () => expect(await processesOf(world)).toEqual([]), 10_000);
    await world.create('configmaps', item('b'));
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'a') });
    await world.write('modules', { '../restarted': '' });
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    expect(itemsSeen(daemon.log)).toEqual(['Synchronization b']);
    expect(itemsSeen(daemon.log, 'one')).toEqual(['Synchronization b']);
    await isDeployed(world, 'one', 'two');
    expect(daemon.log.records).toContainEqual(
      expect.objectContaining({ msg: 'removed files of hook runs that did not finish cleanly', removed: 1 }),
    );
  });

  // FAULT-C1, C2, C4, P10
  test.each([
    ['first install', false, ['failed', 'deployed']],
    ['upgrade', true, ['superseded', 'failed', 'deployed']],
  ])(
    'in a helm run, the %s: helm does not survive, and a restart repairs the release',
    async (_case, isInstalled, statuses) => {
      await using world = await World.create(backend, {
        modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', hangingChart('web', 'web')) },
        config: { web: `hangs: ${!isInstalled}\n` },
      });
      {
        await using daemon = DaemonProcess.start(world);
        if (isInstalled) {
          await daemon.untilConverged();
          await world.putConfig({ web: 'hangs: true\n' });
        }
        await untilHanging(world, 'web');
        await daemon.kill();
      }
      await vi.waitFor(async () => expect(await processesOf(world)).toEqual([]), 10_000);
      expect((await releaseStatuses(world, 'web')).at(-1)).toMatch(/^pending-/);
      await world.putConfig({ web: 'hangs: false\n' });
      await using daemon = DaemonProcess.start(world);
      await daemon.untilConverged();
      expect(await releaseStatuses(world, 'web')).toEqual(statuses);
      expect(await leftovers(world)).toEqual([]);
      await isDeployed(world, 'web');
    },
  );

  // FAULT-C1, D1
  test.each<[string, FaultMatch]>([
    ['before helm stored the release', { verb: 'create', path: /secrets$/ }],
    ['before helm created an object of the chart', { verb: 'create', path: /configmaps$/ }],
    ['before helm stored its success', { verb: 'update', path: /secrets\/sh\.helm\.release/ }],
    ['before the release got its labels', { verb: 'patch', path: /secrets\/sh\.helm\.release/ }],
  ])('%s: a restart deploys the module', async (_case, match) => {
    await using world = await World.create(backend, {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
    });
    await killAt(match, world, cluster());
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    await isDeployed(world, 'web');
    const statuses = await releaseStatuses(world, 'web');
    expect(statuses.filter((status) => status.startsWith('pending'))).toEqual([]);
  });

  // FAULT-D11
  test('in an enabled script: its files with values are gone after a restart', async () => {
    await using world = await World.create(backend, {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/enabled': `#!/bin/sh
if [ ! -e "$WORLD/restarted" ]; then echo "script runs"; while :; do sleep 600; done; fi
echo true > "$MODULE_ENABLED_RESULT"
`,
      },
    });
    {
      await using daemon = DaemonProcess.start(world);
      await daemon.log.untilPrinted('script runs');
      await daemon.kill();
    }
    expect(await leftovers(world)).toHaveLength(1);
    await world.write('modules', { '../restarted': '' });
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    // Those of its own scripts it removes in the background.
    await vi.waitFor(async () => expect(await leftovers(world)).toEqual([]), 10_000);
  });

  // FAULT-D1
  test('while a disabled module is removed: a restart completes the removal', async () => {
    await using world = await World.create(backend, {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', configMapChart('web', 'web')),
        '001-web/hooks/delete.sh': shHook(
          'beforeDeleteHelm: 1\nafterDeleteHelm: 1',
          '[ -e "$WORLD/restarted" ] || { echo "hook runs"; while :; do sleep 600; done; }\necho deleting',
        ),
      },
    });
    {
      await using daemon = DaemonProcess.start(world);
      await daemon.untilConverged();
      await world.putConfig({ webEnabled: 'false' });
      await daemon.log.untilPrinted('hook runs');
      await daemon.kill();
    }
    await world.write('modules', { '../restarted': '' });
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    expect(daemon.log.printed).toEqual(['deleting', 'deleting']);
    expect(await releaseStatuses(world, 'web')).toEqual([]);
    expect(await world.get('configmaps', 'web')).toBeUndefined();
  });

  // FAULT-D2, P1, P13
  test.each<[string, FaultMatch]>([
    ['the success of a hook and its object patch', { verb: 'create', path: /configmaps$/ }],
    ['two object patches of a hook', { verb: 'create', path: /configmaps$/, skip: 1 }],
    [
      'the object patches of a hook and its config values',
      { verb: 'update', path: /configmaps\/addon-operator$/ },
    ],
  ])('between %s: the hook runs again, and everything is applied', async (_case, match) => {
    await using world = await World.create(backend, { config: { global: 'a: 1\n' } });
    await world.write('global-hooks', {
      'make.sh': shHook(
        'onStartup: 1',
        `
echo "hook runs"
for name in one two; do
echo '{"operation":"CreateOrUpdate","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"'$name'","namespace":"'$NAMESPACE'"}}}'
done > "$KUBERNETES_PATCH_PATH"
echo '{"op":"add","path":"/global/saved","value":1}' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
      ),
    });
    await killAt(match, world, cluster());
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    expect(daemon.log.printed).toEqual(['hook runs']);
    expect(await world.get('configmaps', 'one')).toBeDefined();
    expect(await world.get('configmaps', 'two')).toBeDefined();
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({
      data: { global: 'a: 1\nsaved: 1\n' },
    });
  });
});

describeCluster('after kill -9 of the launcher', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  async function killLauncher(daemon: DaemonProcess): Promise<void> {
    const { pid } = await daemon.record('launcher started');
    process.kill(Number(pid), 'SIGKILL');
    await daemon.log.untilMessage('launcher exited unexpectedly');
  }

  test('the next hook runs as if nothing had happened', async () => {
    await using world = await World.create(backend, {});
    await world.write('global-hooks', { 'items.sh': itemsHook(world.namespace) });
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    await killLauncher(daemon);
    await world.create('configmaps', item('a'));
    await untilSeen(daemon.log, 'Added a');
    expect(daemon.log.records).not.toContainEqual(
      expect.objectContaining({ msg: 'attempt failed, will retry' }),
    );
  });

  test('the running hook ends, and its task fails and is retried', async () => {
    await using world = await World.create(backend, {
      globalHooks: {
        'hang.sh': shHook(
          'onStartup: 1',
          '[ -e "$WORLD/again" ] && echo "second run" && exit\ntouch "$WORLD/again"\necho "hook runs"; while :; do sleep 600; done',
        ),
      },
    });
    await using daemon = DaemonProcess.start(world);
    await daemon.log.untilPrinted('hook runs');
    await killLauncher(daemon);
    await vi.waitFor(async () => expect(await processesOf(world)).toEqual([]), 10_000);
    expect(await daemon.record('attempt failed, will retry')).toMatchObject({
      hook: 'hang.sh',
      error: expect.stringContaining('launcher'),
    });
    await daemon.untilConverged();
    expect(daemon.log.printed).toEqual(['hook runs', 'second run']);
  });
});

describeCluster('after kill -9 of the jq process', (cluster) => {
  // FAULT-A23, P2
  test('no event is lost', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    await world.write('global-hooks', {
      'items.sh': itemsHook(world.namespace, 'items', '.metadata.name | ascii_downcase'),
    });
    await world.create('configmaps', item('first'));
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    const { pid: launcher } = await daemon.record('launcher started');
    const killed = new Set<number>();
    for (const name of ['a', 'b', 'c']) {
      // There is none when the last one answered before it ended.
      const engines = (await childrenOf(daemon.pid)).filter((pid) => pid !== launcher);
      for (const pid of engines) {
        process.kill(pid, 'SIGKILL');
        killed.add(pid);
      }
      await world.create('configmaps', item(name));
      await untilSeen(daemon.log, `Added ${name}`);
    }
    expect(killed.size).toBeGreaterThan(0);
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'b') });
    await untilSeen(daemon.log, 'Deleted b');
  });
});
