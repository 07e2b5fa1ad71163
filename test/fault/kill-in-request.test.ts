import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import type { FaultMatch } from '../support/fault-rule.ts';
import { hangingChart, releaseStatuses, untilHanging } from '../support/hanging-chart.ts';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';
import { untilNoProcesses } from '../support/world-processes.ts';
import { isDeployed, killAt, leftovers } from './killed-daemon.ts';

describeCluster('after kill -9 of the daemon', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
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
      await untilNoProcesses(world);
      expect((await releaseStatuses(world, 'web')).at(-1)).toMatch(/^pending-/);
      await world.putConfig({ web: 'hangs: false\n' });
      await using daemon = DaemonProcess.start(world);
      await daemon.untilConverged();
      expect(await releaseStatuses(world, 'web')).toEqual(statuses);
      await vi.waitFor(async () => expect(await leftovers(world)).toEqual([]), 60_000);
      await isDeployed(world, 'web');
    },
  );

  // FAULT-C1, D1
  test.each<[string, FaultMatch]>([
    ['before helm stored the release', { verb: 'create', path: /secrets$/ }],
    ['before the operator created what it remembers', { verb: 'create', path: /configmaps$/ }],
    ['before helm created an object of the chart', { verb: 'create', path: /configmaps$/, skip: 1 }],
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
