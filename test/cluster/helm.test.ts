import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import type { HelmDriver } from '../../src/helm/helm-driver.ts';
import { rejection } from '../support/rejection.ts';
import { describeHelm } from './helm-suite.ts';
import { CONFIG_MAP, HANGING_HOOK, SERVICE } from './helm-templates.ts';

const signal = new AbortController().signal;
const WAIT_MS = 30_000;

describeHelm('helm driver', (lab) => {
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

  test('deploy() starts no helm when nothing changed, after a restart of the daemon neither', async () => {
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

  test('deploy() makes no revision when other inputs render to the same, and remembers that', async () => {
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

  test('deploy() brings a deleted object back', async () => {
    await lab.deploy();
    await lab.world.delete('configmaps/web');
    expect(await lab.deploy()).toMatchObject({ action: 'upgraded', reason: '/ConfigMap/web is missing' });
    expect(await lab.greeting()).toEqual({ greeting: 'hello' });
  });

  test('deploy() takes back a field that somebody else has changed', async () => {
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

  test('deploy() retries a failed release with equal values, and heals it with good ones', async () => {
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

  test('deploy() repeats a helm that failed at once, and is done', async () => {
    await lab.deploy();
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    const deploying = lab.deploy({ greeting: 'good day' });
    await lab.untilHookRuns();
    await lab.world.put({ 'templates/hook.yaml': undefined });
    await lab.world.killHelm();
    expect(await deploying).toMatchObject({ action: 'upgraded', revision: 3 });
    expect(await lab.world.statuses()).toEqual(['1 superseded', '2 failed', '3 deployed']);
  });

  test('deploy() marks a revision failed whose helm was killed with its daemon, and goes on', async () => {
    await lab.deploy();
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    const first = lab.deploy({ greeting: 'good day' });
    const failing = rejection(first);
    await lab.untilHookRuns();
    await lab.world.killHelm();
    await vi.waitFor(async () => expect(await lab.world.statuses()).toContain('3 pending-upgrade'), WAIT_MS);
    await lab.world.killHelm();
    expect(await failing).toContain('helm was killed by SIGKILL');
    await lab.world.put({ 'templates/hook.yaml': undefined });
    const restarted = await lab.world.driver();
    const request = {
      module: { name: 'web', path: lab.world.modulePath },
      values: { web: { greeting: 'good day' } },
    };
    expect(await restarted.deploy(request, signal)).toMatchObject({ action: 'upgraded', revision: 4 });
    await restarted.monitors.stopAll();
    expect(await lab.world.statuses()).toEqual(['1 superseded', '2 failed', '3 failed', '4 deployed']);
    expect(await lab.greeting()).toEqual({ greeting: 'good day' });
  });

  test('deploy() waits for a person at work on the release, and takes over once that helm must be dead', async () => {
    await lab.deploy();
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    const person = lab.world.person('upgrade', 'web', lab.world.modulePath, '--set', 'web.greeting=mine');
    const killed = rejection(person);
    await lab.untilHookRuns();
    await lab.world.put({ 'templates/hook.yaml': undefined });
    await expect(lab.deploy({ greeting: 'good day' })).rejects.toMatchObject({ code: 'HELM_LOCKED' });
    await expect(lab.driver.uninstall('web', signal)).rejects.toMatchObject({ code: 'HELM_LOCKED' });
    expect(await lab.world.statuses()).toEqual(['1 deployed', '2 pending-upgrade']);
    person.kill('SIGKILL');
    expect(await killed).toContain('SIGKILL');
    await expect(lab.deploy({ greeting: 'good day' })).rejects.toMatchObject({ code: 'HELM_LOCKED' });
    lab.world.clock.jump(22 * 60_000);
    expect(await lab.deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded', revision: 3 });
    expect(await lab.world.statuses()).toEqual(['1 superseded', '2 failed', '3 deployed']);
  });

  test('deploy() does not take what a person has deployed for its own', async () => {
    await lab.deploy();
    await lab.world.person('upgrade', 'web', lab.world.modulePath, '--set', 'web.greeting=mine');
    expect(await lab.greeting()).toEqual({ greeting: 'mine' });
    expect(await lab.deploy()).toMatchObject({ action: 'upgraded', revision: 3 });
    expect(await lab.greeting()).toEqual({ greeting: 'hello' });
  });

  test('deploy() tells helm to stop when the signal aborts, and waits for it', async () => {
    await lab.deploy();
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    const abort = new AbortController();
    const deploying = lab.deploy({ greeting: 'good day' }, abort.signal);
    const aborted = rejection(deploying);
    await lab.untilHookRuns();
    abort.abort(new Error('daemon stops'));
    expect(await aborted).toBe('daemon stops');
    expect(await lab.world.helmPids()).toEqual([]);
    expect(await lab.world.statuses()).toEqual(['1 deployed', '2 failed']);
    await lab.world.put({ 'templates/hook.yaml': undefined });
    expect(await lab.deploy({ greeting: 'good day' })).toMatchObject({ action: 'upgraded', revision: 3 });
  });

  test('deploy() makes a release of bare templates, and writes nothing into the module', async () => {
    await lab.world.put({
      'Chart.yaml': undefined,
      'hooks/hook.sh': 'x',
      'crds/templates/broken.yaml': '{{',
    });
    expect(await lab.deploy()).toMatchObject({ action: 'installed' });
    expect((await lab.world.person('list', '--output', 'json')).stdout).toContain('web-0.2.0');
    expect((await readdir(lab.world.modulePath)).toSorted()).toEqual(['crds', 'hooks', 'templates']);
  });

  test('deploy() of a chart without objects makes a release too', async () => {
    await lab.world.put({ 'templates/map.yaml': '{{ if false }}{{ end }}' });
    expect(await lab.deploy()).toMatchObject({ action: 'installed', objects: [] });
    expect(await lab.deploy()).toMatchObject({ action: 'skipped' });
  });

  test('deploy() names the template that fails, hides secret values, and writes nothing', async () => {
    await lab.world.put({ 'templates/bad.yaml': '{{ fail (printf "no %s" .Values.web.password) }}' });
    const failing = lab.deploy({ greeting: 'hello', password: 'canary-123' });
    await expect(failing).rejects.toMatchObject({
      code: 'HELM_FAILED',
      message: expect.stringMatching(/run helm install: .*templates\/bad\.yaml:1.*no \*\*\*/s),
    });
    expect(await lab.world.history()).toEqual([]);
    expect(await lab.world.object('configmaps/web')).toBeUndefined();
  });

  test('deploy() adopts an object of nobody, and refuses one of another release', async () => {
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

  test('deploy() leaves the old revision as it is when the new record would be too big', async () => {
    await lab.deploy();
    await lab.world.put({ 'files/big': randomBytes(1_200_000).toString('base64') });
    await expect(lab.deploy({ greeting: 'good day' })).rejects.toThrow('1048576');
    expect(await lab.world.statuses()).toEqual(['1 deployed']);
    expect(await lab.greeting()).toEqual({ greeting: 'hello' });
  });

  test('deploy() of a chart with random functions does not upgrade for ever', async () => {
    await lab.world.put({
      'templates/random.yaml': CONFIG_MAP.replace('}}"}\ndata', '}}-r"}\ndata').replace(
        '.Values.web.greeting',
        'uuidv4',
      ),
    });
    await lab.deploy();
    expect(await lab.deploy()).toMatchObject({ action: 'skipped', revision: 1 });
    expect(lab.world.helmRuns).toEqual(['upgrade']);
  });

  test('deploy() of a chart with lookup upgrades when what it reads has changed, and only then', async () => {
    const source = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'source' }, data: { a: '1' } };
    await lab.world.probe.expect({ method: 'POST', path: lab.world.path('configmaps'), body: source });
    await lab.world.put({
      'templates/map.yaml': CONFIG_MAP.replace(
        '.Values.web.greeting',
        '(lookup "v1" "ConfigMap" .Release.Namespace "source").data.a',
      ),
    });
    await lab.deploy();
    expect(await lab.deploy()).toMatchObject({ action: 'skipped', revision: 1 });
    await lab.world.probe.expect({
      method: 'PUT',
      path: lab.world.path('configmaps/source'),
      body: { ...source, data: { a: '2' } },
    });
    expect(await lab.deploy()).toMatchObject({ action: 'upgraded', revision: 2 });
    expect(await lab.greeting()).toEqual({ greeting: '2' });
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

  test('deploy() keeps as many revisions as it is told, and ends a helm hook at its time-out', async () => {
    const request = (greeting: string): Parameters<HelmDriver['deploy']>[0] => ({
      module: { name: 'web', path: lab.world.modulePath },
      values: { web: { greeting } },
    });
    const strict = await lab.world.driver({ historyMax: 2, timeoutMs: 1_000 });
    for (const greeting of ['a', 'b', 'c', 'd']) await strict.deploy(request(greeting), signal);
    expect(await lab.world.statuses()).toEqual(['3 superseded', '4 deployed']);
    await lab.world.put({ 'templates/hook.yaml': HANGING_HOOK });
    await expect(strict.deploy(request('e'), signal)).rejects.toThrow(/timed out|deadline|not ready/);
    expect((await lab.world.statuses()).at(-1)).toMatch(/failed$/);
    await strict.monitors.stopAll();
  });

  test('deploy() of a chart without templates makes a release too, and of a broken Chart.yaml says so', async () => {
    await lab.world.put({ 'templates/map.yaml': undefined });
    expect(await lab.deploy()).toMatchObject({ action: 'installed', objects: [] });
    await lab.world.put({ 'Chart.yaml': 'name: web\n' });
    await expect(lab.deploy()).rejects.toThrow(/run helm install: .*version|run helm install: .*apiVersion/);
  });

  test('deployments that share what they read for many modules look again where something may be wrong', async () => {
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

  test('render() shows the manifests with extra labels, and changes nothing', async () => {
    await lab.world.put({
      'templates/version.yaml': CONFIG_MAP.replace(
        '.Values.web.greeting',
        '.Capabilities.KubeVersion.Version',
      ),
    });
    const module = { name: 'web', path: lab.world.modulePath };
    const text = await lab.driver.render({ module, values: { web: { greeting: 'hello' } } }, signal);
    expect(text).toContain('heritage: "addon-operator"');
    expect(text).toMatch(/greeting: "v1\.\d+\.\d+"/);
    expect(await lab.world.history()).toEqual([]);
  });
});
