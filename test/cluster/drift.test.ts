import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { DriftMode } from '../../src/releases/drift/drift-policy.ts';
import type { HelmDriver } from '../../src/releases/helm-driver.ts';
import { CapturedLog } from '../support/captured-log.ts';
import {
  describeCluster,
  describeEachHelm,
  helmPath,
  lacksHelm,
} from '../support/control-plane/cluster-suite.ts';
import { HelmWorld, shareHelmTools } from './helm-world.ts';
import { MANY_KINDS } from './many-kinds.ts';

const signal = new AbortController().signal;
const BACK = 'object is corrected to what helm applied';
const CHANGED = 'object differs from what helm applied';
const WAIT = { timeout: 60_000, interval: 50 };

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web{{ if .Values.web.note }}, note: "yes"{{ end }}}
spec:
  replicas: {{ .Values.web.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
`;

interface Live {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly replicas?: number; readonly size?: number };
}

describeCluster('drift', (cluster) => {
  const tools = shareHelmTools();
  describeEachHelm((version) => {
    let world: HelmWorld;
    let driver: HelmDriver;
    let log: CapturedLog;

    beforeEach(async (context) => {
      if (lacksHelm(version)) {
        context.skip();
        return;
      }
      world = await HelmWorld.start(cluster(), helmPath(cluster(), version), tools());
      log = new CapturedLog(world.clock);
      driver = await world.driver({ log: log.logger });
    });
    afterEach(async () => {
      await driver.monitors.stopAll();
      await world.stop();
    });

    async function deploy(values: object, mode: DriftMode): Promise<void> {
      const module = { name: 'web', path: world.modulePath };
      const drift = { mode, ignore: [] };
      await driver.deploy({ module, values: { global: {}, web: values }, drift }, signal);
    }

    function at(path: string): string {
      const [group = '', version = '', ...rest] = path.split('/');
      return `/apis/${group}/${version}/namespaces/${world.namespace}/${rest.join('/')}`;
    }

    async function live(path: string): Promise<Live> {
      return (await world.probe.expect({ path: at(path) })) as Live;
    }

    async function edit(path: string, body: object): Promise<void> {
      const contentType = 'application/merge-patch+json';
      await world.probe.expect({
        method: 'PATCH',
        path: `${at(path)}?fieldManager=somebody`,
        body,
        contentType,
      });
    }

    test('a workload that was scaled to zero is reverted without a revision, and upgrades continue to work', async () => {
      await world.put({ 'templates/web.yaml': DEPLOYMENT });
      await deploy({ replicas: 2, note: true }, 'heal');
      await edit('apps/v1/deployments/web/scale', { spec: { replicas: 0 } });
      await log.untilMessage(BACK);
      // The server notes nobody as the owner of a zero that came by the subresource.
      expect(log.records.find(({ msg }) => msg === CHANGED)).toMatchObject({
        resource: '/Deployment/web',
        fields: ['/spec/replicas'],
        changedBy: [],
      });
      expect((await live('apps/v1/deployments/web')).spec.replicas).toBe(2);
      expect(await world.statuses()).toEqual(['1 deployed']);
      await deploy({ replicas: 3, note: false }, 'heal');
      const after = await live('apps/v1/deployments/web');
      expect(after.spec.replicas).toBe(3);
      expect(after.metadata.labels).not.toHaveProperty('note');
      await edit('apps/v1/deployments/web', { spec: { replicas: 0 } });
      await log.untilMessage(BACK, 2);
      expect((await live('apps/v1/deployments/web')).spec.replicas).toBe(3);
    });

    test('an edited custom resource is reverted, which an upgrade by helm 3 would not do', async () => {
      const group = `${world.namespace}.example.com`;
      await world.probe.expect({
        method: 'POST',
        path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        body: gadgets(group),
      });
      // helm asks what there is, which the server tells later than it serves it.
      await vi.waitFor(async () => {
        const kinds = await world.probe.expect({ path: `/apis/${group}/v1` });
        expect(JSON.stringify(kinds)).toContain('gadgets');
      }, WAIT);
      await world.put({
        'templates/gadget.yaml': `apiVersion: ${group}/v1\nkind: Gadget\nmetadata: {name: web}\nspec: {size: 3, mode: 0644}\n`,
      });
      await deploy({}, 'heal');
      await edit(`${group}/v1/gadgets/web`, { spec: { size: 5, theirs: true } });
      await log.untilMessage(BACK);
      expect((await live(`${group}/v1/gadgets/web`)).spec).toEqual({ size: 3, mode: 0o644, theirs: true });
    });

    test('unchanged objects of many kinds have no drift, also after a restart of the operator', async () => {
      await world.put({ 'templates/all.yaml': MANY_KINDS });
      await deploy({}, 'warn');
      await driver.monitors.stopAll();
      driver = await world.driver({ log: log.logger });
      await deploy({}, 'warn');
      await edit('apps/v1/deployments/many', { spec: { replicas: 0 } });
      await log.untilMessage(CHANGED);
      await edit('apps/v1/deployments/many', { metadata: { labels: { app: 'else' } } });
      await log.untilMessage(CHANGED, 2);
      expect(
        driver.monitors.drift('web')?.objects.map(({ resource, fields }) => ({ resource, fields })),
      ).toEqual([{ resource: '/Deployment/many', fields: ['/metadata/labels/app', '/spec/replicas'] }]);
      expect(log.records.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toEqual([
        CHANGED,
        CHANGED,
      ]);
    });
  });
});

function gadgets(group: string) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Gadget', plural: 'gadgets' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
