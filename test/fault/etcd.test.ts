import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeCluster, startControlPlane } from '../support/control-plane/cluster-suite.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { deployedMap, startEtcdWorld, WEB } from '../support/etcd-world.ts';
import { releaseStatuses } from '../support/hanging-chart.ts';
import { item, itemsSeen, untilSeen } from '../support/items-hook.ts';
import type { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';
import { makeGate, openGate } from '../support/world-processes.ts';

const FILLER_BYTES = 900_000;

const signal = new AbortController().signal;

describeCluster('a daemon whose etcd fails', (cluster) => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane(cluster(), { etcdFlags: ['--quota-backend-bytes=16777216'] });
  });
  afterAll(async () => await plane.stop());

  // FAULT-B4
  test('reports that etcd has no space, and continues when there is some', async () => {
    await using world = await startEtcdWorld(cluster(), plane, {
      ...WEB,
      '001-web/hooks/wait.sh': shHook(
        'beforeHelm: 1',
        `[ -e "$WORLD/passed" ] || { echo "hook runs"; read -r go < "$WORLD/gate"; touch "$WORLD/passed"; }`,
      ),
    });
    await makeGate(world);
    await using daemon = DaemonProcess.start(world);
    await daemon.log.untilPrinted('hook runs');
    const fillers = await fill(world);
    await openGate(world);
    const failed = await daemon.record('attempt failed, will retry');
    expect(failed).toMatchObject({
      task: 'ModuleRun',
      module: 'web',
      error: expect.stringContaining('database space exceeded'),
    });
    for (const name of fillers)
      await world.expect({ method: 'DELETE', path: world.path('configmaps', name) });
    await makeSpace(plane.etcdUrl);
    await daemon.untilConverged();
    expect((await releaseStatuses(world, 'web')).at(-1)).toBe('deployed');
  });

  // FAULT-B2, A9, P3
  test('follows an older backup of etcd that is restored: objects, config values and releases', async () => {
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

  // FAULT-B1, A9, P11
  test('uninstalls nothing when all data of etcd is lost, and deploys its modules again', async () => {
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

/** Writes ConfigMaps until etcd takes no more; returns their names. */
async function fill(world: World): Promise<readonly string[]> {
  const names: string[] = [];
  for (let index = 0; index < 100; index += 1) {
    const name = `filler-${index}`;
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { text: 'x'.repeat(FILLER_BYTES) },
    };
    const { status } = await world.backend.request({ method: 'POST', path: world.path('configmaps'), body });
    if (status >= 300) return names;
    names.push(name);
  }
  throw new Error('etcd has no limit');
}

/** Compacts and defragments etcd and takes its alarm back. */
async function makeSpace(etcdUrl: string): Promise<void> {
  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${etcdUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return await response.json();
  };
  const { header } = (await post('/v3/kv/range', { key: 'AA==' })) as { header: { revision: string } };
  await post('/v3/kv/compaction', { revision: header.revision, physical: true });
  await post('/v3/maintenance/defragment', {});
  const { alarms } = (await post('/v3/maintenance/alarm', { action: 'GET' })) as {
    alarms: readonly object[];
  };
  for (const alarm of alarms) await post('/v3/maintenance/alarm', { ...alarm, action: 'DEACTIVATE' });
}
