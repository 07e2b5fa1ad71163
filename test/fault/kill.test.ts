import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { releaseStatuses } from '../support/hanging-chart.ts';
import { item, itemsHook, itemsSeen, untilSeen } from '../support/items-hook.ts';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';
import { childrenOf, untilNoProcesses } from '../support/world-processes.ts';
import { isDeployed, leftovers } from './killed-daemon.ts';

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
    await untilNoProcesses(world);
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
    await vi.waitFor(async () => expect(await leftovers(world)).toEqual([]), 60_000);
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
    await untilNoProcesses(world);
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
