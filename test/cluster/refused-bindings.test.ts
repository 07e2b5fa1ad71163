import { expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { createServiceAccount, serviceAccountKubeconfig } from '../support/control-plane/service-account.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

const MODULES = {
  'values.yaml': 'webEnabled: true\n',
  ...under('001-web', configMapChart('web', 'web')),
};
const NEEDED = [
  { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['*'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
];
const PODS = { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] };

function podsHook(namespace: string): string {
  return shHook(
    `
beforeAll: 1
kubernetes:
- {name: pods, apiVersion: v1, kind: Pod, namespace: {nameSelector: {matchNames: [${namespace}]}}}`,
    `echo "pods $(cat "$BINDING_CONTEXT_PATH")"`,
  );
}

describeCluster('a daemon that may not list what a global hook watches', (cluster) => {
  // FAULT-A16
  test('converges without that hook, names the missing permission, and runs the hook once it is granted', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), { modules: MODULES });
    await world.write('global-hooks', {
      'a.sh': podsHook(world.namespace),
      'b.sh': announcer('b', { beforeAll: 2 }),
    });
    await createServiceAccount(world, 'limited', NEEDED);
    const kubeconfig = await serviceAccountKubeconfig(cluster(), world.namespace, 'limited');
    await using daemon = DaemonProcess.start(world, { 'kube-config': kubeconfig });
    await daemon.untilConverged();
    expect(await world.get('configmaps', 'web')).toBeDefined();
    expect(daemon.log.printed).toEqual(['b beforeAll']);

    const missing = /pods is forbidden: User ".*:limited" cannot list resource "pods".*in the namespace/;
    const refused = daemon.log.records.find(({ msg }) => String(msg).includes('global hook is forbidden'));
    expect(refused).toMatchObject({ level: 'error', error: expect.stringMatching(missing) });
    expect(await daemon.page('/readyz')).toMatch(missing);
    expect(await daemon.page('/metrics')).toMatch(/watch_failing\{.*binding="pods".*reason="forbidden"\} 1/);
    const explained = await runInWorld(world, 'explain', 'module', 'web');
    expect(explained.stdout).toMatch(missing);

    await world.expect({
      method: 'PATCH',
      path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${world.namespace}/roles/limited`,
      contentType: 'application/merge-patch+json',
      body: { rules: [...NEEDED, PODS] },
    });
    await daemon.log.until(() => daemon.log.printed.filter((line) => line.startsWith('pods')).length === 2);
    const runs = daemon.log.printed.filter((line) => line.startsWith('pods'));
    expect(runs[0]).toContain('"type":"Synchronization"');
    expect(runs[1]).toContain('"binding":"beforeAll"');
    expect(await daemon.page('/readyz')).toBe('Startup converge done.\n');
  });
});
