import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DeployResult } from '../../src/releases/deploy.ts';
import { HelmWorld, shareHelmTools } from '../cluster/helm-world.ts';
import { CapturedLog } from '../support/captured-log.ts';
import { describeCluster, helmPath, lacksHelm } from '../support/control-plane/cluster-suite.ts';
import { FaultProxy } from '../support/fault-proxy.ts';

const signal = new AbortController().signal;
/** The namespace controller looks again after 8 s and more, and at those of other tests as well. */
const WAIT_MS = 90_000;
const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}], selector: {app: web}}
`;

const CREATE = { verb: 'create', path: /\/services$/ } as const;
const APPLY = { verb: 'patch', path: /\/services\/web$/ } as const;

describeCluster('helm that the API server does not serve well', (cluster) => {
  const tools = shareHelmTools();
  describe.each(['3.17.3', '4.1.4'] as const)('with helm %s', (version) => {
    /** How this helm writes the Service. */
    const write = version === '4.1.4' ? APPLY : CREATE;
    let world: HelmWorld;
    let proxy: FaultProxy;
    let log: CapturedLog;
    let directory: string;

    beforeEach(async (context) => {
      if (lacksHelm(version)) {
        context.skip();
        return;
      }
      world = await HelmWorld.start(cluster(), helmPath(cluster(), version), tools());
      await world.put({ 'templates/service.yaml': SERVICE });
      log = new CapturedLog(world.clock);
      proxy = await FaultProxy.start(cluster().access);
      directory = await mkdtemp(join(tmpdir(), 'helm-fault-'));
      await writeFile(join(directory, 'kubeconfig'), proxy.kubeconfig);
    });
    afterEach(async () => {
      await proxy.close();
      await world.stop();
      await rm(directory, { recursive: true, force: true });
    });

    /** One run of the module by a driver whose helm talks to the API server through the proxy. */
    async function deploy(): Promise<DeployResult> {
      const driver = await world.driver({
        log: log.logger,
        kubeConfigPath: join(directory, 'kubeconfig'),
      });
      try {
        const module = { name: 'web', path: world.modulePath };
        return await driver.deploy({ module, values: { web: {} } }, signal);
      } finally {
        await driver.monitors.stopAll();
      }
    }

    async function uninstall(): Promise<unknown> {
      const driver = await world.driver({ log: log.logger, kubeConfigPath: join(directory, 'kubeconfig') });
      return await driver.uninstall('web', signal);
    }

    test('one failure of the API server costs one more helm, at once', async () => {
      proxy.add({ ...write, times: 1 }, { type: 'status', status: 500 });
      expect(await deploy()).toMatchObject({ action: 'installed', revision: 2 });
      expect(world.helmRuns).toEqual(['upgrade', 'install']);
      expect(log.records.map((record) => record['msg'])).toContain('helm failed, retrying once');
      expect(await world.statuses()).toEqual(['1 failed', '2 deployed']);
    });

    test('a missing permission for one kind is named, and the next run succeeds when it is granted', async () => {
      const forbidden = proxy.add({ ...write }, { type: 'status', status: 403 });
      await expect(deploy()).rejects.toMatchObject({
        code: 'HELM_FAILED',
        message: expect.stringMatching(/Cannot deploy release "web": .*403/s),
      });
      proxy.remove(forbidden);
      expect(await deploy()).toMatchObject({ action: 'installed', revision: 3 });
    });

    test('a release that cannot be deleted shows why, and is removed when it can be', async () => {
      await deploy();
      const forbidden = proxy.add(
        { verb: 'delete', path: /\/services\/web$/ },
        { type: 'status', status: 403 },
      );
      await expect(uninstall()).rejects.toThrow(
        /^Cannot uninstall release "web": failed to delete release: web: the fault proxy answers 403$/,
      );
      proxy.remove(forbidden);
      expect(await uninstall()).toBe('uninstalled');
    });

    test('a write that succeeded although the response was an error is not repeated', async () => {
      proxy.add({ ...write, times: 1 }, { type: 'apply-then-fail', status: 504 });
      expect(await deploy()).toMatchObject({ action: 'installed' });
      expect((await world.statuses()).at(-1)).toBe('2 deployed');
    });

    test('a namespace that is being deleted is named, and the module is deployed when it exists again', async () => {
      const doomed = `${world.namespace}-doomed`;
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: doomed } };
      await world.probe.expect({ method: 'POST', path: '/api/v1/namespaces', body: namespace });
      const pinned = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'pin', finalizers: ['example.com/pin'] },
      };
      const maps = `/api/v1/namespaces/${doomed}/configmaps`;
      await world.probe.expect({ method: 'POST', path: maps, body: pinned });
      await world.probe.expect({ method: 'DELETE', path: `/api/v1/namespaces/${doomed}` });
      await world.put({
        'templates/service.yaml': SERVICE.replace('name: web', `name: web, namespace: ${doomed}`),
      });
      await expect(deploy()).rejects.toThrow(
        /being terminated[\s\S]*The module continues when the namespace is gone and created again/,
      );
      await world.probe.expect({
        method: 'PATCH',
        path: `${maps}/pin`,
        contentType: 'application/merge-patch+json',
        body: { metadata: { finalizers: null } },
      });
      await vi.waitFor(
        async () => await world.probe.expect({ method: 'POST', path: '/api/v1/namespaces', body: namespace }),
        WAIT_MS,
      );
      expect(await deploy()).toMatchObject({ action: 'installed' });
      await world.probe.expect({ method: 'DELETE', path: `/api/v1/namespaces/${doomed}` });
    });

    test('a record of more than 1 MiB is rejected, the old revision stays, and the message says what to do', async () => {
      await deploy();
      const noise = Array.from({ length: 120_000 }, () => Math.random().toString(36)).join('\n');
      await world.put({
        'files/big': noise,
        'templates/service.yaml': `{{ $_ := .Files.Get "files/big" }}${SERVICE.replace('port: 80', 'port: 81')}`,
      });
      await expect(deploy()).rejects.toThrow(
        /larger than an object of the cluster may be.*files\/big.*\.helmignore/s,
      );
      expect(await world.statuses()).toEqual(['1 deployed']);
      await world.put({ '.helmignore': 'files/\n' });
      expect(await deploy()).toMatchObject({ action: 'upgraded', revision: 2 });
    });
  });
});
