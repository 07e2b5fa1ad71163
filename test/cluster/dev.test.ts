import { expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { createServiceAccount, serviceAccountKubeconfig } from '../support/control-plane/service-account.ts';
import { startDev } from '../support/dev-process.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const MODULES = {
  'values.yaml': 'web: {}\nwebEnabled: true\n',
  ...under('001-web', {
    ...configMapChart('web', 'web'),
    'hooks/pods.sh': shHook('kubernetes: [{name: pods, kind: Pod}]', 'true'),
  }),
};
const OWN = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }];

describeCluster('addon-operator dev of a user with few permissions', (cluster) => {
  test('names each permission that is missing, before the operator hands anything over', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), { config: {} });
    await createServiceAccount(world, 'author', OWN);
    const kubeconfig = await serviceAccountKubeconfig(cluster(), world.namespace, 'author');
    await using dev = await startDev(world, 'laptop', {
      modules: MODULES,
      flags: { 'kube-config': kubeconfig },
    });
    expect(await dev.exited).toMatchObject({ code: 1 });
    const said = dev.said.join('\n');
    expect(said).toContain('the user of context test may not do what module web needs:');
    expect(said).toContain(`  create secrets in ${world.namespace}\n`);
    expect(said).toContain('  list pods\n');
    expect(said).not.toContain('configmaps');
    expect(await world.get('configmaps', 'addon-operator-pauses')).toBeUndefined();
  });
});
