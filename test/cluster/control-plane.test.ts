import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import {
  describeCluster,
  helmPath,
  lacksHelm,
  startControlPlane,
} from '../support/control-plane/cluster-suite.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { FaultProxy } from '../support/fault-proxy.ts';

const signal = new AbortController().signal;

function configMap(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { key: 'value' } };
}

describeCluster('the shared control plane', (cluster) => {
  test('returns its version', async () => {
    const probe = new ApiProbe(cluster().access);
    expect(await probe.expect({ path: '/version' })).toMatchObject({ major: '1', minor: expect.any(String) });
  });

  test('deletes a namespace with its objects', async () => {
    const probe = new ApiProbe(cluster().access);
    const path = `/api/v1/namespaces/${await probe.createNamespace('smoke')}`;
    await probe.expect({ method: 'POST', path: `${path}/configmaps`, body: configMap('mine') });
    await probe.expect({ method: 'DELETE', path });
    await vi.waitFor(async () => expect((await probe.request({ path })).status).toBe(404), 90_000);
  });

  test('is reached through the fault proxy, watches included', async () => {
    const probe = new ApiProbe(cluster().access);
    const path = `/api/v1/namespaces/${await probe.createNamespace('proxy')}/configmaps`;
    await using proxy = await FaultProxy.start(cluster().access);
    const watch = await fetch(`${proxy.url}${path}?watch=true&fieldSelector=metadata.name%3Dseen`);
    await probe.expect({ method: 'POST', path, body: configMap('seen') });
    const reader = watch.body?.getReader();
    const event = Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(JSON.parse(event)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'seen' } } });
    proxy.add({ verb: 'list' }, { type: 'cut-after-bytes', bytes: 20 });
    await expect(fetch(`${proxy.url}${path}`).then(async (list) => await list.text())).rejects.toThrow(
      'terminated',
    );
    expect(proxy.calls.map(({ verb, fault }) => [verb, fault])).toEqual([
      ['watch', null],
      ['list', 'cut-after-bytes'],
    ]);
  });

  describe.each(HELM_VERSIONS)('helm %s', (version) => {
    let chartDir = '';
    beforeAll(async () => {
      chartDir = await mkdtemp(join(tmpdir(), 'helm-smoke-'));
      await cp(join(import.meta.dirname, 'charts/tiny'), join(chartDir, 'tiny'), { recursive: true });
    });
    afterAll(async () => await rm(chartDir, { recursive: true, force: true }));

    test.skipIf(lacksHelm(version))('installs and upgrades a chart', async () => {
      const probe = new ApiProbe(cluster().access);
      const namespace = await probe.createNamespace('helm');
      const helm = async (...args: string[]): Promise<string> => {
        const env = {
          KUBECONFIG: cluster().kubeconfigPath,
          HELM_CACHE_HOME: chartDir,
          HELM_CONFIG_HOME: chartDir,
        };
        return (await execa(helmPath(cluster(), version), args, { env, stdin: 'ignore' })).stdout;
      };
      expect(await helm('version', '--short')).toMatch(new RegExp(`^v${version}\\b`));
      for (const greeting of ['hello', 'good day']) {
        await helm(
          'upgrade',
          '--install',
          'tiny',
          join(chartDir, 'tiny'),
          `--set=greeting=${greeting}`,
          '-n',
          namespace,
        );
        expect(await probe.expect({ path: `/api/v1/namespaces/${namespace}/configmaps/tiny` })).toMatchObject(
          { data: { greeting } },
        );
      }
      expect(JSON.parse(await helm('list', '-n', namespace, '-o', 'json'))).toMatchObject([
        { revision: '2' },
      ]);
    });
  });
});

describeCluster('a control plane of its own', (cluster) => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane(cluster());
  });
  afterAll(async () => await plane.stop());

  test('keeps its objects when the API server is killed and restarted', async () => {
    const path = `/api/v1/namespaces/${await plane.probe.createNamespace('restart')}/configmaps`;
    await plane.probe.expect({ method: 'POST', path, body: configMap('kept') });
    await plane.killApiserver();
    await expect(plane.probe.request({ path })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await plane.startApiserver(signal);
    expect(await plane.probe.expect({ path: `${path}/kept` })).toMatchObject({ data: { key: 'value' } });
  });

  test('does not respond while the API server is paused, and responds to everything afterwards', async () => {
    plane.pauseApiserver();
    let isResponded = false;
    const response = plane.probe.request({ path: '/version' }).then((result) => {
      isResponded = true;
      return result;
    });
    await new ApiProbe(cluster().access).request({ path: '/version' });
    expect(isResponded).toBe(false);
    plane.resumeApiserver();
    expect((await response).status).toBe(200);
  });
});
