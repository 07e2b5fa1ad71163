import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeCluster, startControlPlane } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { deployedMap, startEtcdWorld, WEB } from '../support/etcd-world.ts';
import { releaseStatuses } from '../support/hanging-chart.ts';
import { item, untilSeen } from '../support/items-hook.ts';

const signal = new AbortController().signal;

describeCluster('a daemon whose etcd fails', (cluster) => {
  // FAULT-B1, A9, P11
  test('uninstalls nothing when all data of etcd is lost, and deploys its modules again', async () => {
    await using plane = await startControlPlane(cluster());
    await using world = await startEtcdWorld(cluster(), plane, WEB);
    await world.create('configmaps', item('a'));
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    await plane.killAll();
    await rm(plane.etcdDirectory, { recursive: true });
    await plane.startAll(signal);
    await world.expect({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: world.namespace } },
    });
    await untilSeen(daemon.log, 'Deleted a');
    await daemon.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployedMap(world)).toMatchObject({ data: { values: '{"a":0}' } });
    expect(await releaseStatuses(world, 'web')).toEqual(['deployed']);
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
  });
});
