import { afterEach, beforeEach, expect, test } from 'vitest';
import { preflight } from '../../src/modules/preflight.ts';
import type { HelmDriver } from '../../src/releases/helm-driver.ts';
import {
  describeCluster,
  describeEachHelm,
  helmPath,
  lacksHelm,
} from '../support/control-plane/cluster-suite.ts';
import { HelmWorld, shareHelmTools } from './helm-world.ts';

const signal = new AbortController().signal;
const WAIT = { timeout: 30_000, interval: 100 };
const POLICIES = '/apis/admissionregistration.k8s.io/v1';

const deployment = (labels: string, image: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: ${labels}}
  template:
    metadata: {labels: ${labels}}
    spec: {containers: [{name: web, image: "${image}"}]}
`;

const GADGETS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: flyers.preflight.example.com}
spec:
  group: preflight.example.com
  scope: Namespaced
  names: {kind: Flyer, plural: flyers}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`;

describeCluster('a preflight', (cluster) => {
  const tools = shareHelmTools();
  describeEachHelm((version) => {
    let world: HelmWorld;
    let driver: HelmDriver;

    beforeEach(async (context) => {
      if (lacksHelm(version)) {
        context.skip();
        return;
      }
      world = await HelmWorld.start(cluster(), helmPath(cluster(), version), tools());
      driver = await world.driver();
      const module = { name: 'web', path: world.modulePath };
      await world.put({ 'templates/web.yaml': deployment('{app: web}', 'web:1') });
      await driver.deploy({ module, values: { global: {}, web: {} } }, signal);
    });
    afterEach(async () => {
      await driver.monitors.stopAll();
      await world.stop();
    });

    async function findings() {
      const module = { name: 'web', path: world.modulePath };
      const request = { module, values: { global: {}, web: {} } };
      return await preflight({ helm: driver, crdFilterPrefixes: [] }, request, signal);
    }

    /** Without its status, which a controller changes all the time. */
    async function deployed(): Promise<unknown> {
      const path = `/apis/apps/v1/namespaces/${world.namespace}/deployments/web`;
      return ((await world.probe.expect({ path })) as { readonly spec: unknown }).spec;
    }

    test('content that is deployed already has no findings', async () => {
      expect(await findings()).toEqual([]);
    });

    test('an admission policy that refuses a field is named with its message, and nothing is changed', async () => {
      const name = `no-latest-${world.namespace}`;
      await world.probe.expect({
        method: 'POST',
        path: `${POLICIES}/validatingadmissionpolicies`,
        body: {
          metadata: { name },
          spec: {
            matchConstraints: {
              resourceRules: [
                {
                  apiGroups: ['apps'],
                  apiVersions: ['v1'],
                  operations: ['CREATE', 'UPDATE'],
                  resources: ['deployments'],
                },
              ],
            },
            validations: [
              {
                expression: "object.spec.template.spec.containers.all(c, !c.image.endsWith(':latest'))",
                message: 'images need a version',
              },
            ],
          },
        },
      });
      await world.probe.expect({
        method: 'POST',
        path: `${POLICIES}/validatingadmissionpolicybindings`,
        body: {
          metadata: { name },
          spec: {
            policyName: name,
            validationActions: ['Deny'],
            matchResources: {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': world.namespace } },
            },
          },
        },
      });
      try {
        const before = await deployed();
        await world.put({ 'templates/web.yaml': deployment('{app: web}', 'web:latest') });
        const found = [
          { object: '/Deployment/web', reason: expect.stringContaining('images need a version') },
        ];
        // The API server compiles a policy after its creation.
        await expect.poll(findings, WAIT).toEqual(found);
        expect(await deployed()).toEqual(before);
      } finally {
        await world.probe.expect({
          method: 'DELETE',
          path: `${POLICIES}/validatingadmissionpolicybindings/${name}`,
        });
        await world.probe.expect({
          method: 'DELETE',
          path: `${POLICIES}/validatingadmissionpolicies/${name}`,
        });
      }
    });

    test('an immutable field and a quota are findings', async () => {
      const quotas = `/api/v1/namespaces/${world.namespace}/resourcequotas`;
      const hard = { 'count/secrets': '0', secrets: '0' };
      await world.put({
        'templates/web.yaml': deployment('{app: other}', 'web:1'),
        'templates/secret.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: extra}\n',
      });
      await world.probe.expect({
        method: 'POST',
        path: quotas,
        body: { metadata: { name: 'none' }, spec: { hard } },
      });
      await expect.poll(findings, WAIT).toEqual(
        expect.arrayContaining([
          { object: '/Deployment/web', reason: expect.stringContaining('field is immutable') },
          { object: '/Secret/extra', reason: expect.stringMatching(/quota/) },
        ]),
      );
    });

    test('objects of a CRD that the content brings are skipped, and a chart that does not render is a finding', async () => {
      await world.put({
        'crds/flyers.yaml': GADGETS,
        'templates/flyer.yaml':
          'apiVersion: preflight.example.com/v1\nkind: Flyer\nmetadata: {name: a}\nspec: {anything: 1}\n',
      });
      expect(await findings()).toEqual([]);
      await world.put({ 'templates/flyer.yaml': '{{ fail "no flyers today" }}' });
      expect(await findings()).toEqual([
        { object: 'chart', reason: expect.stringContaining('no flyers today') },
      ]);
    });
  });
});
