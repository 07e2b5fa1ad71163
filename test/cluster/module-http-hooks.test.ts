import { expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { hookSection, startModuleHookServer } from '../support/module-hook-server.ts';
import { World } from '../support/world.ts';
import { configMapChart, under } from '../support/world-files.ts';

describeCluster('the HTTP hook of a module on a control plane that knows schemas', (cluster) => {
  test('that reports what the Module cannot hold fails, and says so', async () => {
    await using server = await startModuleHookServer(() => ({
      object: { status: { conditions: [{ type: 'DnsReady', status: 'Perhaps' }] } },
    }));
    await using world = await World.create(await controlPlaneBackend(cluster()), {
      modules: {
        'values.yaml': 'cannotHoldEnabled: true\n',
        ...under('001-cannot-hold', {
          ...configMapChart('cannot-hold', 'cannotHold'),
          'module.yaml': hookSection(server.url, ['pre-reconcile']),
        }),
      },
      flags: { 'module-objects': 'true' },
    });
    await world.start();
    await world.untilDelayed();
    expect(world.daemon.operator.main.entries[0]?.lastError).toMatch(
      /pre-reconcile, POST .*: the status in its answer cannot be written: .*status\.conditions/s,
    );
    expect(await world.get('configmaps', 'cannot-hold')).toBeUndefined();
    await world.backend.request({
      method: 'DELETE',
      path: '/apis/addon-operator.io/v1alpha1/modules/cannot-hold',
    });
  });
});
