import { describe, expect, test } from 'vitest';
import { uniqueName } from '../support/hooked-module-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { hookSection, startModuleHookServer } from '../support/module-hook-server.ts';
import { World } from '../support/world.ts';
import { configMapChart, under } from '../support/world-files.ts';

/** In which namespaces servers of modules may add objects. */
describeLifecycle((backend) => {
  describe('the reconcile webhook of a module', () => {
    test('adds objects outside of the namespaces of its module only where a setting allows it', async () => {
      const name = uniqueName();
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } };
      await using server = await startModuleHookServer(({ children }) => ({
        children: { ...children, namespace },
      }));
      await using world = await World.create(backend(), {
        modules: {
          'values.yaml': 'webEnabled: true\n',
          ...under('001-web', {
            ...configMapChart('web', 'web'),
            'module.yaml': hookSection(server.url, ['pre-reconcile']),
          }),
        },
        flags: { 'http-hook-child-namespaces': 'default' },
      });
      const path = '/api/v1/namespaces/default/configmaps';
      try {
        await world.start();
        await world.untilDelayed();
        expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain(
          'Namespace/default (cluster-scoped). If the webhook is trusted with them, add Cluster to --http-hook-child-namespaces',
        );
        expect(await world.get('configmaps', 'web')).toBeUndefined();
        const added = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
        server.responseWith(({ children }) => ({ children: { ...children, added } }));
        await world.passDelay();
        await world.daemon.firstConverge;
        expect(await world.expect({ path: `${path}/${name}` })).toMatchObject({ metadata: { name } });
        const { body } = await world.backend.request({ path: '/api/v1/namespaces/default' });
        expect(body).not.toMatchObject({ metadata: { annotations: { 'meta.helm.sh/release-name': 'web' } } });
      } finally {
        await world.stop();
        await world.backend.request({ method: 'DELETE', path: `${path}/${name}` });
      }
    });
  });
});
