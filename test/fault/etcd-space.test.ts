import { expect, test } from 'vitest';
import { describeCluster, startControlPlane } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { startEtcdWorld, WEB } from '../support/etcd-world.ts';
import { releaseStatuses } from '../support/hanging-chart.ts';
import type { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';
import { makeGate, openGate } from '../support/world-processes.ts';

const FILLER_BYTES = 900_000;

describeCluster('a daemon whose etcd fails', (cluster) => {
  // FAULT-B4
  test('reports that etcd has no space, and continues when there is some', async () => {
    await using plane = await startControlPlane(cluster(), { etcdFlags: ['--quota-backend-bytes=16777216'] });
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
