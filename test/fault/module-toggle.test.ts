import { expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { hangingChart, releaseStatuses, untilHanging } from '../support/hanging-chart.ts';
import { World } from '../support/world.ts';
import { under } from '../support/world-files.ts';

const WAIT_MS = 60_000;

/** Ends the pod of the hook Job well, as a kubelet would. */
async function finishJob(world: World, name: string): Promise<void> {
  const query = `labelSelector=${encodeURIComponent(`job-name=${name}-hangs`)}`;
  const pods = (await world.expect({ path: `${world.path('pods')}?${query}` })) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  for (const { metadata } of pods.items) {
    await world.expect({
      method: 'PATCH',
      path: `${world.path('pods', metadata.name)}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { phase: 'Succeeded' } },
    });
  }
}

/** Edits the ConfigMap, and waits until the daemon has seen that. */
async function edit(world: World, daemon: DaemonProcess, data: Record<string, string>): Promise<void> {
  const edits = (): number =>
    daemon.log.records.filter((record) => {
      return record['task.flow'] === 'add' && record['binding'] === 'ApplyKubeConfigValues';
    }).length;
  const before = edits();
  await world.putConfig(data);
  await daemon.log.until(() => edits() > before);
}

describeCluster('a module that is toggled while its hook Job runs', (cluster) => {
  // FAULT-C15
  test.each<[string, string, readonly string[], boolean]>([
    ['is uninstalled only after its upgrade', 'it is disabled', ['false'], false],
    ['stays deployed', 'it is disabled and enabled again before the Job ends', ['false', 'true'], true],
  ])('%s, when %s', async (_result, _case, edits, isLeft) => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', hangingChart('web', 'web')) },
      config: {},
    });
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    await edit(world, daemon, { web: 'hangs: true\n' });
    await untilHanging(world, 'web');
    for (const webEnabled of edits) await edit(world, daemon, { web: 'hangs: true\n', webEnabled });
    expect(await releaseStatuses(world, 'web')).toEqual(['deployed', 'pending-upgrade']);
    expect(await world.get('configmaps', 'web')).toBeDefined();
    await finishJob(world, 'web');
    const statuses = isLeft ? ['superseded', 'deployed'] : [];
    await vi.waitFor(async () => expect(await releaseStatuses(world, 'web')).toEqual(statuses), WAIT_MS);
    await vi.waitFor(
      async () => expect((await world.get('configmaps', 'web')) !== undefined).toBe(isLeft),
      WAIT_MS,
    );
  });
});
