import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { DaemonProcess } from '../support/daemon-process.ts';
import { gadgetDefinition } from '../support/gadget-definition.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { startModuleHookServer } from '../support/module-hook-server.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, under } from '../support/world-files.ts';

const CLUSTER_DNS = pathToFileURL(join(import.meta.dirname, '../support/cluster-dns.ts')).href;
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WAIT = { timeout: 60_000, interval: 100 };

function web(address: string) {
  return {
    'values.yaml': 'webEnabled: true\n',
    ...under('001-web', {
      ...configMapChart('web', 'web'),
      'module.yaml': `hook: {version: v1, address: ${address}, capabilities: [pre-reconcile]}\n`,
    }),
  };
}

/** Where the servers of modules are looked for. */
describeLifecycle((backend) => {
  describe('the reconcile webhook of a module', () => {
    test('is found through a Service, with the path of the uri and the port of the Service', async () => {
      await using server = await startModuleHookServer(() => ({}));
      const port = Number(new URL(server.url).port);
      await using world = await World.create(backend(), {
        modules: web('{uri: /v1?team=a, ref: {apiVersion: v1, kind: Service, name: hook}}'),
      });
      await world.create('services', {
        kind: 'Service',
        metadata: { name: 'hook' },
        spec: { ports: [{ port }] },
      } as never);
      await using daemon = DaemonProcess.start(world, {}, { NODE_OPTIONS: `--import ${CLUSTER_DNS}` });
      await daemon.untilConverged();
      expect(server.requests).toMatchObject([
        { path: '/v1', query: { team: 'a' }, headers: { host: `hook.${world.namespace}.svc:${port}` } },
      ]);
    });

    test('is called at the address in the status of an object, combined with the parts of the uri', async () => {
      await using server = await startModuleHookServer(() => ({}));
      const { hostname, port } = new URL(server.url);
      const group = `g${Math.random().toString(36).slice(2)}.example.com`;
      const address = (uri: string): string =>
        `{uri: "${uri}", ref: {apiVersion: ${group}/v1, kind: Gadget, name: hook}}`;
      await using world = await World.create(backend(), { modules: web(address(`http://:${port}/v1`)) });
      await world.expect({ method: 'POST', path: CRDS, body: gadgetDefinition(group) });
      try {
        const path = `/apis/${group}/v1/namespaces/${world.namespace}/gadgets`;
        await vi.waitFor(async () => await world.expect({ path }), WAIT);
        const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'hook' } };
        await world.expect({ method: 'POST', path, body: gadget });
        await world.start();
        await world.untilDelayed();
        expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain(
          `Gadget ${world.namespace}/hook, which hook.address.ref of module.yaml names, cannot be used: it has no status.address.url`,
        );
        await world.expect({
          method: 'PATCH',
          path: `${path}/hook`,
          contentType: 'application/merge-patch+json',
          body: { status: { address: { url: `http://${hostname}:1/other` } } },
        });
        await world.passDelay();
        await world.daemon.firstConverge;
        expect(server.requests).toMatchObject([{ path: '/v1' }]);
      } finally {
        await world.backend.request({ method: 'DELETE', path: `${CRDS}/gadgets.${group}` });
      }
    });

    test('that is named by an object needs permission to get it, which rbac includes', async () => {
      await using world = await World.create(backend(), {
        modules: web('{ref: {apiVersion: v1, kind: Service, name: hook}}'),
      });
      const { stdout } = await runInWorld(world, 'rbac', '-o', 'json');
      expect(JSON.parse(stdout)).toMatchObject({
        items: [
          { kind: 'ClusterRole' },
          {
            kind: 'Role',
            metadata: { namespace: world.namespace },
            rules: expect.arrayContaining([
              { apiGroups: [''], resources: ['services'], resourceNames: ['hook'], verbs: ['get'] },
            ]),
          },
        ],
      });
    });
  });
});

describeApiIndependent((backend) => {
  describe('the reconcile webhook of a module', () => {
    test('is not called on this machine, when no setting allows that', async () => {
      await using server = await startModuleHookServer(() => ({}));
      await using world = await World.create(backend(), {
        modules: web(`{uri: "${server.url}/v1"}`),
        flags: { 'http-hook-allowed-hosts': '*.svc' },
      });
      await world.start();
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain(
        'the address 127.0.0.1 is not allowed for HTTP hooks: it is local to this machine or the cluster; to allow it, add 127.0.0.1 to --http-hook-allowed-hosts',
      );
      expect(server.requests).toEqual([]);
    });

    test('is not called at a host that an object names and no setting allows', async () => {
      const group = `g${Math.random().toString(36).slice(2)}.example.com`;
      await using world = await World.create(backend(), {
        modules: web(`{ref: {apiVersion: ${group}/v1, kind: Gadget, name: hook}}`),
      });
      await world.expect({ method: 'POST', path: CRDS, body: gadgetDefinition(group) });
      try {
        const path = `/apis/${group}/v1/namespaces/${world.namespace}/gadgets`;
        await vi.waitFor(async () => await world.expect({ path }), WAIT);
        const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'hook' } };
        await world.expect({ method: 'POST', path, body: gadget });
        await world.expect({
          method: 'PATCH',
          path: `${path}/hook`,
          contentType: 'application/merge-patch+json',
          body: { status: { address: { url: 'http://collector.example.com/' } } },
        });
        await world.start();
        await world.untilDelayed();
        expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain(
          'the host collector.example.com is not allowed for a URL that an object names: add it to --http-hook-allowed-hosts',
        );
      } finally {
        await world.backend.request({ method: 'DELETE', path: `${CRDS}/gadgets.${group}` });
      }
    });

    test('that has no address fails the run, and the message says what is missing', async () => {
      await using world = await World.create(backend(), {
        modules: web('{ref: {apiVersion: v1, kind: Service, name: hook, namespace: default}}'),
      });
      await world.start();
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toBe(
        "reconcile webhook of module 'web', pre-reconcile failed: POST Service hook: Service default/hook, which hook.address.ref of module.yaml names, does not exist",
      );
    });
  });
});
