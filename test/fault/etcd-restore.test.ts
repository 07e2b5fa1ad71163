import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeCluster, startControlPlane } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { deployedMap, startEtcdWorld, WEB } from '../support/etcd-world.ts';
import { releaseStatuses } from '../support/hanging-chart.ts';
import { item, itemsSeen, untilSeen } from '../support/items-hook.ts';

const signal = new AbortController().signal;

describeCluster('a daemon whose etcd fails', (cluster) => {
  // FAULT-B2, A9, P3
  test('follows an older backup of etcd that is restored: objects, config values and releases', async () => {
    await using plane = await startControlPlane(cluster());
    await using world = await startEtcdWorld(cluster(), plane, WEB);
    await world.create('configmaps', item('a'));
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    const copy = join(plane.directory, 'etcd-copy');
    await plane.killAll();
    await cp(plane.etcdDirectory, copy, { recursive: true });
    await plane.startAll(signal);
    await world.create('configmaps', item('b'));
    await untilSeen(daemon.log, 'Added b');
    await world.putConfig({ web: 'a: 2\n' });
    await daemon.log.untilMessage('ModuleRun success, module is ready', 2);
    await plane.killAll();
    await rm(plane.etcdDirectory, { recursive: true });
    await cp(copy, plane.etcdDirectory, { recursive: true });
    await plane.startAll(signal);
    await untilSeen(daemon.log, 'Deleted b');
    await daemon.log.untilMessage('ModuleRun success, module is ready', 3);
    expect(await deployedMap(world)).toMatchObject({ data: { values: '{"a":1}' } });
    expect((await releaseStatuses(world, 'web')).at(-1)).toBe('deployed');
    expect(itemsSeen(daemon.log)).toEqual(['Synchronization a', 'Added b', 'Deleted b']);
  });
});
