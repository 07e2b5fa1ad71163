import { beforeAll, expect, test } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { ConversionLab } from '../support/conversion-lab.ts';
import { type Backend, World } from '../support/world.ts';

const ROOT = '/apis/admissionregistration.k8s.io/v1';
const IMPORT = "import { defineHook } from 'addon-operator/sdk';";

/** Denies ConfigMaps with the label `checked` but without data, and adds a label to the others. */
function admissionHook(namespace: string): string {
  const webhook = (name: string): string => `{
    name: '${name}.example.com',
    namespace: { labelSelector: { matchLabels: { 'kubernetes.io/metadata.name': '${namespace}' } } },
    labelSelector: { matchLabels: { checked: 'yes' } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
  }`;
  return `${IMPORT}
export default defineHook(
  { kubernetesValidating: [${webhook('check')}], kubernetesMutating: [${webhook('change')}] },
  ({ contexts, admission }) => {
    const [context] = contexts;
    if (context === undefined) return;
    if (context.type === 'Mutating')
      return admission.allow({ patch: [{ op: 'add', path: '/metadata/labels/by', value: 'script' }] });
    if (context.review.request.object?.data === undefined) return admission.deny('no data, no entry');
    admission.allow({ warnings: ['looks well'] });
  },
);
`;
}

const CONVERSION_HOOK = (crdName: string): string => `${IMPORT}
export default defineHook(
  {
    kubernetesCustomResourceConversion: [
      { name: 'boxes', crdName: '${crdName}', conversions: [{ fromVersion: 'v1', toVersion: 'v2' }] },
    ],
  },
  ({ contexts, conversion }) => {
    const { desiredAPIVersion, objects } = contexts[0]!.review.request;
    conversion.converted(
      objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion, spec: { path: ['by script'] } })),
    );
  },
);
`;

describeCluster('in-process hooks asked by a real API server', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  test('they deny, allow with warnings, and change objects', async () => {
    const [port = 0] = await freePorts(1);
    await using world = await World.create(backend, {
      flags: {
        'webhook-url': 'https://127.0.0.1',
        'validating-webhook-listen-address': '127.0.0.1',
        'validating-webhook-listen-port': String(port),
        'validating-webhook-configuration-name': `test-${port}`,
      },
    });
    await world.write('global-hooks', { 'admission.ts': admissionHook(world.namespace) });
    await world.converge();
    const create = (name: string, more: object) =>
      backend.request({
        method: 'POST',
        path: world.path('configmaps'),
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name, labels: { checked: 'yes' } },
          ...more,
        },
      });
    await expect
      .poll(async () => JSON.stringify((await create('empty', {})).body), { timeout: 60_000 })
      .toContain('no data, no entry');
    const { status, body } = await create('full', { data: { a: '1' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ metadata: { labels: { by: 'script' } } });
    for (const kind of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'])
      await backend.request({ method: 'DELETE', path: `${ROOT}/${kind}/test-${port}-hooks` });
  });

  test('they convert objects', async () => {
    await using lab = await ConversionLab.create(backend, (crdName) => ({
      globalHooks: { 'convert.ts': CONVERSION_HOOK(crdName) },
    }));
    await lab.createDefinition();
    await lab.createBox('a');
    await lab.world.converge();
    await lab.untilBox('v2', 'a', (response) =>
      expect(response).toMatchObject({
        status: 200,
        body: { apiVersion: `${lab.group}/v2`, spec: { path: ['by script'] } },
      }),
    );
  });
});
