import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../checks/checkout.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { isAllowed } from '../support/control-plane/access-review.ts';
import { describeCluster, describeEachHelm, lacksHelm } from '../support/control-plane/cluster-suite.ts';
import { CHART, helmOf } from '../support/control-plane/operator-chart.ts';
import { World } from '../support/world.ts';

const SOON = { timeout: 60_000, interval: 100 };

describeCluster('the page about the installation', (cluster) => {
  describeEachHelm((version) => {
    test('has values for production that the API server accepts, with the objects that the page promises', async () => {
      if (lacksHelm(version)) return;
      await using world = await World.create(await controlPlaneBackend(cluster()), {});
      const values = join(world.directory, 'values.yaml');
      await writeFile(values, await productionValues());
      const helm = helmOf(cluster(), version);
      await helm('lint', '--strict', CHART, '--values', values);
      await helm('install', 'operator', CHART, '--namespace', world.namespace, '--values', values);
      expect(
        await world.expect({ path: `/apis/apps/v1/namespaces/${world.namespace}/deployments/operator` }),
      ).toMatchObject({
        spec: {
          replicas: 2,
          template: {
            spec: {
              imagePullSecrets: [{ name: 'regcred' }],
              containers: [{ image: 'registry.example.com/my-operator:1.4.2' }],
            },
          },
        },
      });
      expect(await world.get('configmaps', 'addon-operator')).toMatchObject({
        data: { web: 'replicas: 3\n', webEnabled: 'true' },
      });
      const policy = `/apis/networking.k8s.io/v1/namespaces/${world.namespace}/networkpolicies/operator`;
      expect(await world.expect({ path: policy })).toMatchObject({ spec: { policyTypes: ['Ingress'] } });
      const may = { verb: 'create', namespace: 'default', name: '' };
      const deployments = { ...may, group: 'apps', resource: 'deployments' };
      await expect.poll(async () => await isAllowed(world, 'operator', deployments), SOON).toBe(true);
      expect(await isAllowed(world, 'operator', { ...may, resource: 'pods' })).toBe(false);
    });
  });
});

async function productionValues(): Promise<string> {
  const page = await readFile(join(projectRoot, 'docs/install.md'), 'utf8');
  const values = /^<!-- sample: install-values -->\n```yaml\n([^]*?)^```$/m.exec(page)?.[1];
  if (values === undefined) throw new Error('the page has no sample install-values');
  return values;
}
