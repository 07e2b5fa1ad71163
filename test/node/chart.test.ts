import { join } from 'node:path';
import { describe, expect, type TestOptions, test } from 'vitest';
import { furtherNode } from '../support/api-independent.ts';
import type { HelmVersion } from '../support/control-plane/programs.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { PodOperator, RELEASE } from '../support/node/pod-operator.ts';

const ROOT = join(import.meta.dirname, '../..');
const VERSIONS: readonly { readonly helm: HelmVersion; readonly options: TestOptions }[] = [
  { helm: '3.19.5', options: furtherNode },
  { helm: '4.1.4', options: {} },
];

describeNode('the chart of the operator in a pod', (node) => {
  for (const { helm, options } of VERSIONS) {
    // oxlint-disable-next-line vitest/valid-title -- the version makes it a title
    describe(`with helm ${helm}`, options, () => {
      test('installs one replica, grows to two, shrinks to one, and leaves nothing that blocks when it is uninstalled', async () => {
        const shared = await node();
        await using operator = await PodOperator.install(shared, { name: 'chart', files: MODULE, helm });
        const [pod] = await operator.pods();
        expect(pod?.status.containerStatuses).toMatchObject([{ ready: true, restartCount: 0 }]);
        expect(await configMap(shared, operator)).toMatchObject({ data: { greeting: 'hello' } });

        // Without a lease the running pod would be active beside the new ones.
        await scaleToZero(shared, operator);
        await operator.upgrade('--set', 'highAvailability.enabled=true');
        const replicas = await operator.pods();
        expect(replicas).toHaveLength(2);
        for (const { status } of replicas) {
          expect(status.containerStatuses).toMatchObject([{ ready: true, restartCount: 0 }]);
        }

        await operator.upgrade();
        await expect.poll(async () => await operator.pods(), SOON).toHaveLength(1);
        await operator.helm('uninstall', RELEASE, '--namespace', operator.namespace, '--wait');
        await expect.poll(async () => await operator.pods(), SOON).toHaveLength(0);
        expect(await configMap(shared, operator)).toMatchObject({ data: { greeting: 'hello' } });
      });
    });
  }

  test('runs the starter modules with the permissions that `rbac` prints', async () => {
    const shared = await node();
    await using operator = await PodOperator.install(shared, {
      name: 'starter',
      modulesDir: join(ROOT, 'modules'),
      globalHooksDir: join(ROOT, 'global-hooks'),
    });
    const records = await operator.records();
    expect(records.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });
});

const SOON = { timeout: 600_000, interval: 200 };

const MODULE = {
  'modules/001-greeter/Chart.yaml': 'apiVersion: v2\nname: greeter\nversion: 1.0.0\n',
  'modules/001-greeter/values.yaml': 'greeterEnabled: true\ngreeter: {greeting: hello}\n',
  'modules/001-greeter/templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeter}\ndata: {greeting: {{ .Values.greeter.greeting }}}\n',
};

async function configMap({ node }: SharedNode, { namespace }: PodOperator): Promise<unknown> {
  const { body } = await node.probe.request({ path: `/api/v1/namespaces/${namespace}/configmaps/greeter` });
  return body;
}

async function scaleToZero({ node }: SharedNode, operator: PodOperator): Promise<void> {
  await node.probe.expect({
    method: 'PATCH',
    path: `/apis/apps/v1/namespaces/${operator.namespace}/deployments/${RELEASE}/scale`,
    contentType: 'application/merge-patch+json',
    body: { spec: { replicas: 0 } },
  });
  await expect.poll(async () => await operator.pods(), SOON).toHaveLength(0);
}
