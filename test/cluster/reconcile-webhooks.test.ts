import { expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { createServiceAccount, serviceAccountKubeconfig } from '../support/control-plane/service-account.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { hookSection, startModuleHookServer } from '../support/module-hook-server.ts';
import { World } from '../support/world.ts';
import { configMapChart, under } from '../support/world-files.ts';

describeCluster('the reconcile webhook of a module on a control plane that knows schemas', (cluster) => {
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
    expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(
      /pre-reconcile, POST .*: the status in its response cannot be written: .*status\.conditions/s,
    );
    expect(await world.get('configmaps', 'cannot-hold')).toBeUndefined();
    await world.backend.request({
      method: 'DELETE',
      path: '/apis/addon-operator.io/v1alpha1/modules/cannot-hold',
    });
  });

  test('that gives a child the operator may not write gets the refusal of the cluster, and so does the finalizer, once', async () => {
    await using server = await startModuleHookServer(({ phase }) => {
      const child = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'by-hook' } };
      return phase === 'finalize' ? {} : { children: { child } };
    });
    await using world = await World.create(await controlPlaneBackend(cluster()), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', {
          ...configMapChart('web', 'web'),
          'module.yaml': hookSection(server.url, ['pre-reconcile', 'finalize']),
        }),
      },
    });
    await createServiceAccount(world, 'limited', [
      { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['*'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
    ]);
    const kubeconfig = await serviceAccountKubeconfig(cluster(), world.namespace, 'limited');
    await using daemon = DaemonProcess.start(world, { 'kube-config': kubeconfig, 'module-objects': 'true' });
    const failed = await daemon.record('ModuleRun failed. Requeue task to retry after delay.');
    expect(failed['error']).toMatch(
      /deployments\.apps .*is forbidden: User .*:limited" cannot.*`addon-operator rbac`/s,
    );
    const warnings = daemon.log.records.filter(
      ({ level, msg }) =>
        level === 'warn' && String(msg).startsWith('cannot add the finalizer to the Module object'),
    );
    expect(warnings).toHaveLength(1);
  });
});
