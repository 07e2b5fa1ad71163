import { expect, test } from 'vitest';
import type { HelmDriver } from '../../src/releases/helm-driver.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { describeHelm } from './helm-suite.ts';
import { CONFIG_MAP, SERVICE } from './helm-templates.ts';

const signal = new AbortController().signal;

describeHelm(
  'helm driver',
  (lab) => {
    test('deploy() installs a release with labels on its objects and its record', async () => {
      await lab.world.put({ 'templates/service.yaml': SERVICE });
      expect(await lab.deploy()).toMatchObject({ action: 'installed', revision: 1 });
      for (const path of ['configmaps/web', 'services/web']) {
        expect(await lab.world.object(path)).toMatchObject({
          metadata: {
            labels: { heritage: 'addon-operator' },
            annotations: { 'meta.helm.sh/release-name': 'web' },
          },
        });
      }
      const [record] = await lab.world.history();
      expect(record).toMatchObject({
        status: 'deployed',
        labels: {
          moduleChecksum: expect.stringMatching(/^[0-9a-f]{32}$/),
          'addon-operator/owner': 'addon-operator',
        },
      });
      expect(lab.world.operations.map(({ operation }) => operation)).toEqual([
        'template',
        'check-upgrade',
        'upgrade',
      ]);
    });

    test('deploy() does not start helm when nothing changed, also after a restart of the daemon', async () => {
      await lab.deploy();
      lab.world.helmRuns.length = 0;
      expect(await lab.deploy()).toMatchObject({ action: 'skipped', revision: 1 });
      const restarted = await lab.world.driver();
      const request = {
        module: { name: 'web', path: lab.world.modulePath },
        values: { web: { greeting: 'hello' }, global: {} },
      };
      expect(await restarted.deploy(request, signal)).toMatchObject({ action: 'skipped', revision: 1 });
      await restarted.monitors.stopAll();
      expect(lab.world.helmRuns).toEqual([]);
    });

    test('deploy() upgrades when values change', async () => {
      await lab.deploy();
      const [before] = await lab.world.history();
      expect(await lab.deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded', revision: 2 });
      expect(await lab.greeting()).toEqual({ greeting: 'good day' });
      const after = (await lab.world.history())[1];
      expect(after?.labels['moduleChecksum']).toMatch(/^[0-9a-f]{32}$/);
      expect(after?.labels['moduleChecksum']).not.toBe(before?.labels['moduleChecksum']);
    });

    test('deploy() creates no revision when other inputs render to the same manifests, and records the inputs', async () => {
      await lab.deploy();
      lab.world.helmRuns.length = 0;
      expect(await lab.deploy({ greeting: 'hello', unused: true })).toMatchObject({
        action: 'skipped',
        revision: 1,
      });
      expect(lab.world.helmRuns).toEqual(['upgrade']);
      expect(await lab.deploy({ greeting: 'hello', unused: true })).toMatchObject({ action: 'skipped' });
      expect(lab.world.helmRuns).toEqual(['upgrade']);
      expect(await lab.world.statuses()).toEqual(['1 deployed']);
    });

    test('deploy() restores a deleted object', async () => {
      await lab.deploy();
      await lab.world.delete('configmaps/web');
      expect(await lab.deploy()).toMatchObject({ action: 'upgraded', reason: '/ConfigMap/web is missing' });
      expect(await lab.greeting()).toEqual({ greeting: 'hello' });
    });

    test('deploy() reverts a field that another client has changed', async () => {
      await lab.deploy();
      await lab.world.probe.expect({
        method: 'PATCH',
        path: `${lab.world.path('configmaps/web')}?fieldManager=kubectl-patch`,
        contentType: 'application/merge-patch+json',
        body: { data: { greeting: 'mine' } },
      });
      await lab.deploy({ greeting: 'good day' });
      expect(await lab.greeting()).toEqual({ greeting: 'good day' });
    });

    test('deploy() retries a failed release with equal values, and repairs it with correct ones', async () => {
      await lab.world.put({ 'templates/service.yaml': SERVICE });
      await expect(lab.deploy({ port: 99_999 })).rejects.toMatchObject({ code: 'HELM_FAILED' });
      // Each try is repeated once at once.
      expect(await lab.world.statuses()).toEqual(['1 failed', '2 failed']);
      await expect(lab.deploy({ port: 99_999 })).rejects.toThrow(/INSTALLATION FAILED: .*99999/);
      expect(await lab.deploy({ port: 81 })).toMatchObject({ action: 'installed', revision: 5 });
      await expect(lab.deploy({ port: 99_999 })).rejects.toThrow(/helm upgrade failed: .*99999/);
      expect(await lab.deploy({ port: 81 })).toMatchObject({ action: 'upgraded', revision: 8 });
      expect((await lab.world.statuses()).at(-1)).toBe('8 deployed');
    });

    test('deploy() adopts an object without a release, and rejects one of another release', async () => {
      const body = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'web' },
        data: { greeting: 'old' },
      };
      await lab.world.probe.expect({ method: 'POST', path: lab.world.path('configmaps'), body });
      expect(await lab.deploy()).toMatchObject({ action: 'installed' });
      expect(await lab.greeting()).toEqual({ greeting: 'hello' });
      const other = { name: 'thief', path: lab.world.modulePath };
      await lab.world.put({ 'templates/map.yaml': CONFIG_MAP.replace('"{{ .Release.Name }}"', 'web') });
      await expect(
        lab.driver.deploy({ module: other, values: { web: { greeting: 'stolen' } } }, signal),
      ).rejects.toMatchObject({
        code: 'HELM_FAILED',
        message: expect.stringContaining(`/ConfigMap/web of release ${lab.world.namespace}/web`),
      });
      expect(await lab.world.history('thief')).toEqual([]);
      expect(await lab.greeting()).toEqual({ greeting: 'hello' });
    });

    test('deploy() and uninstall() work with records in ConfigMaps too', async () => {
      const inMaps = await lab.world.driver({ storageDriver: 'configmap' });
      const request = (greeting: string): Parameters<HelmDriver['deploy']>[0] => ({
        module: { name: 'web', path: lab.world.modulePath },
        values: { web: { greeting } },
      });
      expect(await inMaps.deploy(request('a'), signal)).toMatchObject({ action: 'installed' });
      expect(await inMaps.deploy(request('a'), signal)).toMatchObject({ action: 'skipped' });
      expect(await inMaps.deploy(request('b'), signal)).toMatchObject({ action: 'upgraded', revision: 2 });
      await lab.world.probe.expect({
        method: 'PATCH',
        path: lab.world.path('configmaps/sh.helm.release.v1.web.v2'),
        contentType: 'application/merge-patch+json',
        body: { data: { release: 'garbage' } },
      });
      expect(await inMaps.deploy(request('c'), signal)).toMatchObject({ action: 'upgraded', revision: 2 });
      expect(await lab.world.history()).toEqual([]);
      expect(await inMaps.uninstall('web', signal)).toBe('uninstalled');
      await inMaps.monitors.stopAll();
      expect(await lab.world.object('configmaps/web')).toBeUndefined();
    });

    test('deployments that share a list of objects read again those that may be missing', async () => {
      const shared = { module: { name: 'web', path: lab.world.modulePath }, mayShareReads: true };
      const request = { ...shared, values: { web: { greeting: 'hello' } } };
      await lab.driver.deploy(request, signal);
      await lab.driver.listReleases(signal);
      expect(await lab.driver.deploy(request, signal)).toMatchObject({ action: 'skipped' });
      await lab.world.delete('configmaps/web');
      lab.driver.forgetReads();
      expect(await lab.driver.deploy(request, signal)).toMatchObject({ action: 'upgraded', revision: 2 });
      await lab.driver.listReleases(signal);
      const other = { ...shared, values: { web: { greeting: 'good day' } } };
      expect(await lab.driver.deploy(other, signal)).toMatchObject({ action: 'upgraded', revision: 3 });
      expect(await lab.driver.deploy(other, signal)).toMatchObject({ action: 'skipped', revision: 3 });
    });
  },
  HELM_VERSIONS,
);
