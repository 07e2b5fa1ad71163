import { loadAll } from 'js-yaml';
import { expect, test, vi } from 'vitest';
import { VALIDATING } from '../support/admission-lab.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { CHART, helmOf, IMAGE } from '../support/control-plane/operator-chart.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { serviceAccountKubeconfig } from '../support/control-plane/service-account.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface HookObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

/** What an operator in the namespace of the world registers. */
async function register(world: World, configuration: string, crd: string): Promise<void> {
  const service = (name: string) => ({ namespace: world.namespace, name, path: '/hooks' });
  await world.expect({
    method: 'POST',
    path: VALIDATING,
    body: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: configuration },
      webhooks: [
        {
          name: 'check.example.com',
          clientConfig: { service: service('shell-operator-validating-svc') },
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Fail',
          rules: [
            { apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['tests'], operations: ['*'] },
          ],
        },
      ],
    },
  });
  const [plural = '', ...group] = crd.split('.');
  const schema = { openAPIV3Schema: { type: 'object' } };
  await world.expect({
    method: 'POST',
    path: CRDS,
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: crd },
      spec: {
        group: group.join('.'),
        scope: 'Namespaced',
        names: { plural, kind: 'Crate' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
        conversion: {
          strategy: 'Webhook',
          webhook: {
            clientConfig: { service: service('shell-operator-conversion-svc') },
            conversionReviewVersions: ['v1'],
          },
        },
      },
    },
  });
}

describeCluster('uninstalling the chart of the operator', (cluster) => {
  test('the Job of the chart may stop the operator and remove its webhooks', async () => {
    await using world = await World.create(await controlPlaneBackend(cluster()), {});
    const { namespace } = world;
    const setting = 'VALIDATING_WEBHOOK_CONFIGURATION_NAME';
    const values = [
      ...IMAGE,
      '--set=webhooks.enabled=true',
      `--set=settings.${setting}=${namespace}`,
      '--namespace',
      namespace,
    ];
    const helm = helmOf(cluster(), HELM_VERSIONS[2]);
    await helm('install', 'op', CHART, ...values);
    const crd = `crates.${namespace}.example.com`;
    await register(world, `${namespace}-hooks`, crd);

    const shown = await helm('template', 'op', CHART, ...values, '--show-only', 'templates/uninstall.yaml');
    const objects = loadAll(shown.stdout) as HookObject[];
    expect(objects.map(({ kind, metadata }) => [kind, metadata.annotations['helm.sh/hook']])).toEqual([
      ['Role', 'pre-delete'],
      ['RoleBinding', 'pre-delete'],
      ['Job', 'pre-delete'],
    ]);
    const [role, binding, job] = objects;
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    await world.expect({ method: 'POST', path: `${rbac}/roles`, body: role });
    await world.expect({ method: 'POST', path: `${rbac}/rolebindings`, body: binding });
    await world.expect({
      method: 'POST',
      path: `/apis/batch/v1/namespaces/${namespace}/jobs?dryRun=All`,
      body: job,
    });
    const template = job?.spec?.template;
    expect(template?.metadata.labels).not.toHaveProperty(['app.kubernetes.io/instance']);

    const kubeconfig = await serviceAccountKubeconfig(cluster(), namespace, 'op');
    const account = {
      directory: world.directory,
      hostEnv: world.hostEnv,
      settingsEnv: { ...world.settingsEnv, [setting]: namespace },
      flags: { ...world.flags, 'kube-config': kubeconfig },
    };
    const args = template?.spec.containers[0]?.args ?? [];
    // The API server decides by what it learned a moment ago.
    const run = await vi.waitFor(async () => {
      const attempt = await runInWorld(account, ...args);
      expect(attempt).toMatchObject({ exitCode: 0, stderr: '' });
      return attempt;
    }, 60_000);
    expect(run.stdout).toContain(`Deployment ${namespace}/op: scaled to 0\n`);
    expect(run.stdout).toContain(`CustomResourceDefinition/${crd}: conversion set to None\n`);
    const deployment = { path: `/apis/apps/v1/namespaces/${namespace}/deployments/op` };
    expect(await world.expect(deployment)).toMatchObject({ spec: { replicas: 0 } });
    expect(await world.expect({ path: `${CRDS}/${crd}` })).toMatchObject({
      spec: { conversion: { strategy: 'None' } },
    });
    const gone = await world.backend.request({ path: `${VALIDATING}/${namespace}-hooks` });
    expect(gone.status).toBe(404);
    await helm('uninstall', 'op', '--namespace', namespace, '--no-hooks');
    await world.expect({ method: 'DELETE', path: `${CRDS}/${crd}` });
  });

  test('without webhooks, or where it is switched off, there is no Job', async () => {
    const helm = helmOf(cluster(), HELM_VERSIONS[2]);
    for (const flags of [[], ['--set=webhooks.enabled=true', '--set=webhooks.removeOnUninstall=false']]) {
      const { stdout } = await helm('template', 'op', CHART, ...IMAGE, ...flags);
      expect(stdout).not.toContain('pre-delete');
    }
  });
});
