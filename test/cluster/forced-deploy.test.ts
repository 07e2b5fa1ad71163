import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DeployResult } from '../../src/releases/deploy.ts';
import type { HelmDriver } from '../../src/releases/helm-driver.ts';
import {
  describeCluster,
  describeEachHelm,
  helmPath,
  lacksHelm,
} from '../support/control-plane/cluster-suite.ts';
import { HelmWorld, shareHelmTools } from './helm-world.ts';

const signal = new AbortController().signal;

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
`;

describeCluster('a forced deploy', (cluster) => {
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
    });
    afterEach(async () => {
      await driver.monitors.stopAll();
      await world.stop();
    });

    async function deploy(isForced: boolean): Promise<DeployResult['action']> {
      const module = { name: 'web', path: world.modulePath };
      const values = { global: {}, web: {} };
      const request = { module, values, isForced, mayShareReads: true };
      return (await driver.deploy(request, signal)).action;
    }

    async function replicas(): Promise<unknown> {
      const path = `/apis/apps/v1/namespaces/${world.namespace}/deployments/web`;
      return ((await world.probe.expect({ path })) as { spec: { replicas: number } }).spec.replicas;
    }

    test.each(['', '/scale'])(
      'undoes what was written to web%s by hand although the chart is the same',
      async (at) => {
        await world.put({ 'templates/web.yaml': DEPLOYMENT });
        expect(await deploy(true)).toBe('installed');
        await world.probe.expect({
          method: 'PATCH',
          path: `/apis/apps/v1/namespaces/${world.namespace}/deployments/web${at}?fieldManager=kubectl`,
          contentType: 'application/merge-patch+json',
          body: { spec: { replicas: 0 } },
        });
        expect(await deploy(false)).toBe('skipped');
        expect(await replicas()).toBe(0);
        expect(await deploy(true)).toBe('upgraded');
        expect(await replicas()).toBe(2);
        expect(await deploy(false)).toBe('skipped');
        expect(await world.statuses()).toEqual(['1 superseded', '2 deployed']);
      },
    );
  });
});
