import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeHelm } from './helm-suite.ts';
import { CONFIG_MAP } from './helm-templates.ts';

const signal = new AbortController().signal;

describeHelm('helm driver with charts of all kinds', (lab) => {
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

  test('deploy() keeps the old revision when the new record would be too large', async () => {
    await lab.deploy();
    await lab.world.put({
      'files/big': randomBytes(1_200_000).toString('base64'),
      'templates/reads.yaml': '{{ $_ := .Files.Get "files/big" }}',
    });
    await expect(lab.deploy({ greeting: 'good day' })).rejects.toThrow(
      /1048576.*The largest files are files\/big \(1563 KiB\)/s,
    );
    expect(await lab.world.statuses()).toEqual(['1 deployed']);
    expect(await lab.greeting()).toEqual({ greeting: 'hello' });
  });

  test('deploy() of a chart with random functions does not upgrade on every run', async () => {
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

  test('deploy() of a chart without templates creates a release, and of a broken Chart.yaml fails', async () => {
    await lab.world.put({ 'templates/map.yaml': undefined });
    expect(await lab.deploy()).toMatchObject({ action: 'installed', objects: [] });
    await lab.world.put({ 'Chart.yaml': 'name: web\n' });
    await expect(lab.deploy()).rejects.toThrow(/run helm upgrade: .*version|run helm upgrade: .*apiVersion/);
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
