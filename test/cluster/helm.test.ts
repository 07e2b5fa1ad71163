import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DeployResult } from '../../src/helm/deploy.ts';
import type { HelmDriver } from '../../src/helm/helm-driver.ts';
import { describeCluster, helmPath, lacksHelm } from '../support/control-plane/cluster-suite.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { rejection } from '../support/rejection.ts';
import { CONFIG_MAP, HANGING_HOOK, SERVICE } from './helm-templates.ts';
import { HelmWorld } from './helm-world.ts';

const signal = new AbortController().signal;
const WAIT_MS = 30_000;

describeCluster('helm driver', (cluster) => {
  describe.each(HELM_VERSIONS)('with helm %s', (version) => {
    let world: HelmWorld;
    let driver: HelmDriver;

    beforeEach(async (context) => {
      if (lacksHelm(version)) {
        context.skip();
        return;
      }
      world = await HelmWorld.start(cluster(), helmPath(cluster(), version));
      await world.put({ 'templates/map.yaml': CONFIG_MAP });
      driver = await world.driver();
    });
    afterEach(async () => {
      await driver.monitors.stopAll();
      await world.stop();
    });

    async function deploy(values: object = { greeting: 'hello' }, abort = signal): Promise<DeployResult> {
      const module = { name: 'web', path: world.modulePath };
      return await driver.deploy({ module, values: { global: {}, web: values } }, abort);
    }

    async function greeting(): Promise<unknown> {
      return (await world.object('configmaps/web'))?.['data'];
    }

    test('deploy() installs a release with labels on its objects and its record', async () => {
      await world.put({ 'templates/service.yaml': SERVICE });
      expect(await deploy()).toMatchObject({ action: 'installed', revision: 1 });
      for (const path of ['configmaps/web', 'services/web']) {
        expect(await world.object(path)).toMatchObject({
          metadata: {
            labels: { heritage: 'addon-operator' },
            annotations: { 'meta.helm.sh/release-name': 'web' },
          },
        });
      }
      const [record] = await world.history();
      expect(record).toMatchObject({
        status: 'deployed',
        labels: {
          moduleChecksum: expect.stringMatching(/^[0-9a-f]{32}$/),
          'addon-operator/owner': 'addon-operator',
        },
      });
      expect(world.operations.map(({ operation }) => operation)).toEqual([
        'template',
        'check-upgrade',
        'upgrade',
      ]);
    });

    test('deploy() starts no helm when nothing changed, after a restart of the daemon neither', async () => {
      await deploy();
      world.helmRuns.length = 0;
      expect(await deploy()).toMatchObject({ action: 'skipped', revision: 1 });
      const restarted = await world.driver();
      const request = {
        module: { name: 'web', path: world.modulePath },
        values: { web: { greeting: 'hello' }, global: {} },
      };
      expect(await restarted.deploy(request, signal)).toMatchObject({ action: 'skipped', revision: 1 });
      await restarted.monitors.stopAll();
      expect(world.helmRuns).toEqual([]);
    });

    test('deploy() upgrades when values change', async () => {
      await deploy();
      const [before] = await world.history();
      expect(await deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded', revision: 2 });
      expect(await greeting()).toEqual({ greeting: 'good day' });
      const after = (await world.history())[1];
      expect(after?.labels['moduleChecksum']).toMatch(/^[0-9a-f]{32}$/);
      expect(after?.labels['moduleChecksum']).not.toBe(before?.labels['moduleChecksum']);
    });

    test('deploy() makes no revision when other inputs render to the same, and remembers that', async () => {
      await deploy();
      world.helmRuns.length = 0;
      expect(await deploy({ greeting: 'hello', unused: true })).toMatchObject({
        action: 'skipped',
        revision: 1,
      });
      expect(world.helmRuns).toEqual(['upgrade']);
      expect(await deploy({ greeting: 'hello', unused: true })).toMatchObject({ action: 'skipped' });
      expect(world.helmRuns).toEqual(['upgrade']);
      expect(await world.statuses()).toEqual(['1 deployed']);
    });

    test('deploy() brings a deleted object back', async () => {
      await deploy();
      await world.delete('configmaps/web');
      expect(await deploy()).toMatchObject({ action: 'upgraded', reason: '/ConfigMap/web is missing' });
      expect(await greeting()).toEqual({ greeting: 'hello' });
    });

    test('deploy() takes back a field that somebody else has changed', async () => {
      await deploy();
      await world.probe.expect({
        method: 'PATCH',
        path: `${world.path('configmaps/web')}?fieldManager=kubectl-patch`,
        contentType: 'application/merge-patch+json',
        body: { data: { greeting: 'mine' } },
      });
      await deploy({ greeting: 'good day' });
      expect(await greeting()).toEqual({ greeting: 'good day' });
    });

    test('deploy() retries a failed release with equal values, and heals it with good ones', async () => {
      await world.put({ 'templates/service.yaml': SERVICE });
      await expect(deploy({ port: 99_999 })).rejects.toMatchObject({ code: 'HELM_FAILED' });
      // Each try is repeated once at once.
      expect(await world.statuses()).toEqual(['1 failed', '2 failed']);
      await expect(deploy({ port: 99_999 })).rejects.toThrow(/helm upgrade failed: .*99999/);
      expect(await deploy({ port: 81 })).toMatchObject({ action: 'upgraded', revision: 5 });
      expect((await world.statuses()).at(-1)).toBe('5 deployed');
    });

    test('deploy() repeats a helm that failed at once, and is done', async () => {
      await deploy();
      await world.put({ 'templates/hook.yaml': HANGING_HOOK });
      const deploying = deploy({ greeting: 'good day' });
      await untilHookRuns();
      await world.put({ 'templates/hook.yaml': undefined });
      await world.killHelm();
      expect(await deploying).toMatchObject({ action: 'upgraded', revision: 3 });
      expect(await world.statuses()).toEqual(['1 superseded', '2 failed', '3 deployed']);
    });

    test('deploy() marks a revision failed whose helm was killed with its daemon, and goes on', async () => {
      await deploy();
      await world.put({ 'templates/hook.yaml': HANGING_HOOK });
      const first = deploy({ greeting: 'good day' });
      const failing = rejection(first);
      await untilHookRuns();
      await world.killHelm();
      await vi.waitFor(async () => expect(await world.statuses()).toContain('3 pending-upgrade'), WAIT_MS);
      await world.killHelm();
      expect(await failing).toContain('helm was killed by SIGKILL');
      await world.put({ 'templates/hook.yaml': undefined });
      const restarted = await world.driver();
      const request = {
        module: { name: 'web', path: world.modulePath },
        values: { web: { greeting: 'good day' } },
      };
      expect(await restarted.deploy(request, signal)).toMatchObject({ action: 'upgraded', revision: 4 });
      await restarted.monitors.stopAll();
      expect(await world.statuses()).toEqual(['1 superseded', '2 failed', '3 failed', '4 deployed']);
      expect(await greeting()).toEqual({ greeting: 'good day' });
    });

    test('deploy() waits for a person at work on the release, and takes over once that helm must be dead', async () => {
      await deploy();
      await world.put({ 'templates/hook.yaml': HANGING_HOOK });
      const person = world.person('upgrade', 'web', world.modulePath, '--set', 'web.greeting=mine');
      const killed = rejection(person);
      await untilHookRuns();
      await world.put({ 'templates/hook.yaml': undefined });
      await expect(deploy({ greeting: 'good day' })).rejects.toMatchObject({ code: 'HELM_LOCKED' });
      await expect(driver.uninstall('web', signal)).rejects.toMatchObject({ code: 'HELM_LOCKED' });
      expect(await world.statuses()).toEqual(['1 deployed', '2 pending-upgrade']);
      person.kill('SIGKILL');
      expect(await killed).toContain('SIGKILL');
      await expect(deploy({ greeting: 'good day' })).rejects.toMatchObject({ code: 'HELM_LOCKED' });
      world.clock.jump(22 * 60_000);
      expect(await deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded', revision: 3 });
      expect(await world.statuses()).toEqual(['1 superseded', '2 failed', '3 deployed']);
    });

    test('deploy() does not take what a person has deployed for its own', async () => {
      await deploy();
      await world.person('upgrade', 'web', world.modulePath, '--set', 'web.greeting=mine');
      expect(await greeting()).toEqual({ greeting: 'mine' });
      expect(await deploy()).toMatchObject({ action: 'upgraded', revision: 3 });
      expect(await greeting()).toEqual({ greeting: 'hello' });
    });

    test('deploy() tells helm to stop when the signal aborts, and waits for it', async () => {
      await deploy();
      await world.put({ 'templates/hook.yaml': HANGING_HOOK });
      const abort = new AbortController();
      const deploying = deploy({ greeting: 'good day' }, abort.signal);
      const aborted = rejection(deploying);
      await untilHookRuns();
      abort.abort(new Error('daemon stops'));
      expect(await aborted).toBe('daemon stops');
      expect(await world.helmPids()).toEqual([]);
      expect(await world.statuses()).toEqual(['1 deployed', '2 failed']);
      await world.put({ 'templates/hook.yaml': undefined });
      expect(await deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded', revision: 3 });
    });

    test('deploy() makes a release of bare templates, and writes nothing into the module', async () => {
      await world.put({ 'Chart.yaml': undefined, 'hooks/hook.sh': 'x', 'crds/templates/broken.yaml': '{{' });
      expect(await deploy()).toMatchObject({ action: 'installed' });
      expect((await world.person('list', '--output', 'json')).stdout).toContain('web-0.2.0');
      expect((await readdir(world.modulePath)).toSorted()).toEqual(['crds', 'hooks', 'templates']);
    });

    test('deploy() of a chart without objects makes a release too', async () => {
      await world.put({ 'templates/map.yaml': '{{ if false }}{{ end }}' });
      expect(await deploy()).toMatchObject({ action: 'installed', objects: [] });
      expect(await deploy()).toMatchObject({ action: 'skipped' });
    });

    test('deploy() names the template that fails, hides secret values, and writes nothing', async () => {
      await world.put({ 'templates/bad.yaml': '{{ fail (printf "no %s" .Values.web.password) }}' });
      const failing = deploy({ greeting: 'hello', password: 'canary-123' });
      await expect(failing).rejects.toMatchObject({
        code: 'HELM_FAILED',
        message: expect.stringMatching(/run helm install: .*templates\/bad\.yaml:1.*no \*\*\*/s),
      });
      expect(await world.history()).toEqual([]);
      expect(await world.object('configmaps/web')).toBeUndefined();
    });

    test('deploy() adopts an object of nobody, and refuses one of another release', async () => {
      const body = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'web' },
        data: { greeting: 'old' },
      };
      await world.probe.expect({ method: 'POST', path: world.path('configmaps'), body });
      expect(await deploy()).toMatchObject({ action: 'installed' });
      expect(await greeting()).toEqual({ greeting: 'hello' });
      const other = { name: 'thief', path: world.modulePath };
      await world.put({ 'templates/map.yaml': CONFIG_MAP.replace('"{{ .Release.Name }}"', 'web') });
      await expect(
        driver.deploy({ module: other, values: { web: { greeting: 'stolen' } } }, signal),
      ).rejects.toMatchObject({
        code: 'HELM_FAILED',
        message: expect.stringContaining(`/ConfigMap/web of release ${world.namespace}/web`),
      });
      expect(await world.history('thief')).toEqual([]);
      expect(await greeting()).toEqual({ greeting: 'hello' });
    });

    test('deploy() leaves the old revision as it is when the new record would be too big', async () => {
      await deploy();
      await world.put({ 'files/big': randomBytes(1_200_000).toString('base64') });
      await expect(deploy({ greeting: 'good day' })).rejects.toThrow('1048576');
      expect(await world.statuses()).toEqual(['1 deployed']);
      expect(await greeting()).toEqual({ greeting: 'hello' });
    });

    test('deploy() of a chart with random functions does not upgrade for ever', async () => {
      await world.put({
        'templates/random.yaml': CONFIG_MAP.replace('}}"}\ndata', '}}-r"}\ndata').replace(
          '.Values.web.greeting',
          'uuidv4',
        ),
      });
      await deploy();
      expect(await deploy()).toMatchObject({ action: 'skipped', revision: 1 });
      expect(world.helmRuns).toEqual(['upgrade']);
    });

    test('deploy() of a chart with lookup upgrades when what it reads has changed, and only then', async () => {
      const source = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'source' }, data: { a: '1' } };
      await world.probe.expect({ method: 'POST', path: world.path('configmaps'), body: source });
      await world.put({
        'templates/map.yaml': CONFIG_MAP.replace(
          '.Values.web.greeting',
          '(lookup "v1" "ConfigMap" .Release.Namespace "source").data.a',
        ),
      });
      await deploy();
      expect(await deploy()).toMatchObject({ action: 'skipped', revision: 1 });
      await world.probe.expect({
        method: 'PUT',
        path: world.path('configmaps/source'),
        body: { ...source, data: { a: '2' } },
      });
      expect(await deploy()).toMatchObject({ action: 'upgraded', revision: 2 });
      expect(await greeting()).toEqual({ greeting: '2' });
    });

    test('deploy() and uninstall() work with records in ConfigMaps too', async () => {
      const inMaps = await world.driver({ storageDriver: 'configmap' });
      const request = (greeting: string): Parameters<HelmDriver['deploy']>[0] => ({
        module: { name: 'web', path: world.modulePath },
        values: { web: { greeting } },
      });
      expect(await inMaps.deploy(request('a'), signal)).toMatchObject({ action: 'installed' });
      expect(await inMaps.deploy(request('a'), signal)).toMatchObject({ action: 'skipped' });
      expect(await inMaps.deploy(request('b'), signal)).toMatchObject({ action: 'upgraded', revision: 2 });
      await world.probe.expect({
        method: 'PATCH',
        path: world.path('configmaps/sh.helm.release.v1.web.v2'),
        contentType: 'application/merge-patch+json',
        body: { data: { release: 'garbage' } },
      });
      expect(await inMaps.deploy(request('c'), signal)).toMatchObject({ action: 'upgraded', revision: 2 });
      expect(await world.history()).toEqual([]);
      expect(await inMaps.uninstall('web', signal)).toBe('uninstalled');
      await inMaps.monitors.stopAll();
      expect(await world.object('configmaps/web')).toBeUndefined();
    });

    test('deploy() keeps as many revisions as it is told, and ends a helm hook at its time-out', async () => {
      const request = (greeting: string): Parameters<HelmDriver['deploy']>[0] => ({
        module: { name: 'web', path: world.modulePath },
        values: { web: { greeting } },
      });
      const strict = await world.driver({ historyMax: 2, timeoutMs: 1_000 });
      for (const greeting of ['a', 'b', 'c', 'd']) await strict.deploy(request(greeting), signal);
      expect(await world.statuses()).toEqual(['3 superseded', '4 deployed']);
      await world.put({ 'templates/hook.yaml': HANGING_HOOK });
      await expect(strict.deploy(request('e'), signal)).rejects.toThrow(/timed out|deadline|not ready/);
      expect((await world.statuses()).at(-1)).toMatch(/failed$/);
      await strict.monitors.stopAll();
    });

    test('deploy() of a chart without templates makes a release too, and of a broken Chart.yaml says so', async () => {
      await world.put({ 'templates/map.yaml': undefined });
      expect(await deploy()).toMatchObject({ action: 'installed', objects: [] });
      await world.put({ 'Chart.yaml': 'name: web\n' });
      await expect(deploy()).rejects.toThrow(/run helm install: .*version|run helm install: .*apiVersion/);
    });

    test('deployments that share what they read for many modules look again where something may be wrong', async () => {
      const shared = { module: { name: 'web', path: world.modulePath }, mayShareReads: true };
      const request = { ...shared, values: { web: { greeting: 'hello' } } };
      await driver.deploy(request, signal);
      await driver.listReleases(signal);
      expect(await driver.deploy(request, signal)).toMatchObject({ action: 'skipped' });
      await world.delete('configmaps/web');
      driver.forgetReads();
      expect(await driver.deploy(request, signal)).toMatchObject({ action: 'upgraded', revision: 2 });
      await driver.listReleases(signal);
      const other = { ...shared, values: { web: { greeting: 'good day' } } };
      expect(await driver.deploy(other, signal)).toMatchObject({ action: 'upgraded', revision: 3 });
      expect(await driver.deploy(other, signal)).toMatchObject({ action: 'skipped', revision: 3 });
    });

    test('uninstall() removes release, objects and history; a missing release is fine', async () => {
      await deploy();
      await deploy({ greeting: 'good day' });
      expect(await driver.exists('web', signal)).toBe(true);
      expect(await driver.uninstall('web', signal)).toBe('uninstalled');
      expect(await driver.exists('web', signal)).toBe(false);
      expect(await world.history()).toEqual([]);
      expect(await world.object('configmaps/web')).toBeUndefined();
      expect(await driver.uninstall('web', signal)).toBe('absent');
      expect(await deploy()).toMatchObject({ action: 'installed', revision: 1 });
    });

    test('uninstall() goes on with an uninstall that was cut off', async () => {
      await cutOffUninstall();
      await finishHook(driver.uninstall('web', signal));
      expect(await world.history()).toEqual([]);
      expect(await world.object('configmaps/web')).toBeUndefined();
    });

    test('deploy() makes a release again of one whose uninstall was cut off', async () => {
      await cutOffUninstall();
      await finishHook(deploy());
      expect(await world.statuses()).toEqual(['1 superseded', '2 deployed']);
    });

    test('uninstall() and listReleases() tell releases of others apart', async () => {
      await deploy();
      await world.person('install', 'theirs', world.modulePath, '--set', 'web.greeting=x');
      expect(await driver.listReleases(signal)).toEqual([
        { name: 'theirs', revision: 1, status: 'deployed', isOwned: false },
        { name: 'web', revision: 1, status: 'deployed', isOwned: true },
      ]);
      expect(await driver.uninstall('theirs', signal)).toBe('spared');
      expect(await world.object('configmaps/theirs')).toBeDefined();
      expect(await driver.uninstall('theirs', signal, { includeForeign: true })).toBe('uninstalled');
      expect(await world.object('configmaps/theirs')).toBeUndefined();
    });

    test('render() shows the manifests with extra labels, and changes nothing', async () => {
      await world.put({
        'templates/version.yaml': CONFIG_MAP.replace(
          '.Values.web.greeting',
          '.Capabilities.KubeVersion.Version',
        ),
      });
      const module = { name: 'web', path: world.modulePath };
      const text = await driver.render({ module, values: { web: { greeting: 'hello' } } }, signal);
      expect(text).toContain('heritage: "addon-operator"');
      expect(text).toMatch(/greeting: "v1\.\d+\.\d+"/);
      expect(await world.history()).toEqual([]);
    });

    async function cutOffUninstall(): Promise<void> {
      await world.put({ 'templates/hook.yaml': HANGING_HOOK });
      await deploy();
      const killed = rejection(driver.uninstall('web', signal));
      await untilHookRuns();
      await world.killHelm();
      expect(await killed).toContain('helm was killed by SIGKILL');
      expect(await world.statuses()).toEqual(['1 uninstalling']);
    }

    async function untilHookRuns(): Promise<void> {
      await vi.waitFor(async () => expect(await world.object('batch/jobs/hang')).toBeDefined(), WAIT_MS);
    }

    /** Completes the hook's Job, as often as helm makes it anew, until `running` has ended. */
    async function finishHook(running: Promise<unknown>): Promise<void> {
      let isOver = false;
      const ended = running.finally(() => {
        isOver = true;
      });
      await vi.waitFor(async () => {
        if (!isOver) await world.completeJob('hang');
        expect(isOver).toBe(true);
      }, WAIT_MS);
      await ended;
    }
  });
});
