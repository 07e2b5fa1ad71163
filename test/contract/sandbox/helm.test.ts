import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSandboxLab, type SandboxLab } from './sandbox-lab.ts';
import { writeWebChart } from './web-chart.ts';

describe('helm 3 on the sandbox', () => {
  let lab: SandboxLab;
  let chart = '';

  beforeAll(async () => {
    lab = await openSandboxLab();
    chart = await writeWebChart(lab.bench);
  });

  afterAll(() => lab.close());

  function upgrade(...args: readonly string[]): ReturnType<typeof lab.bench.helm> {
    return lab.bench.helm(
      3,
      'upgrade',
      '--install',
      'web',
      chart,
      '-n',
      'apps',
      '--create-namespace',
      ...args,
    );
  }

  test('installs a chart with hooks into a new namespace and waits until it is ready', async () => {
    const installed = await upgrade('--wait', '--timeout', '20s');

    expect(installed).toMatchObject({ exitCode: 0 });
    expect(installed.stdout).toContain('STATUS: deployed');
    expect(await lab.bench.get('deployment', 'web', '-n', 'apps')).toMatchObject({
      spec: { replicas: 1 },
      status: { readyReplicas: 1 },
    });
    expect(await lab.bench.get('job', 'web-migrate', '-n', 'apps')).toMatchObject({
      status: { succeeded: 1 },
    });
  });

  test('upgrades with strategic merge patches that keep changes of other clients', async () => {
    await lab.bench.kubectl('-n', 'apps', 'set', 'env', 'deployment/web', 'EXTRA=1');

    const upgraded = await upgrade('--set', 'greeting=bye', '--wait', '--timeout', '20s');

    expect(upgraded.stdout).toContain('REVISION: 2');
    expect(await lab.bench.get('deployment', 'web', '-n', 'apps')).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                env: expect.arrayContaining([
                  { name: 'GREETING', value: 'bye' },
                  { name: 'EXTRA', value: '1' },
                ]),
              },
            ],
          },
        },
      },
    });
    expect(await lab.bench.get('configmap', 'web', '-n', 'apps')).toMatchObject({
      data: { greeting: 'bye' },
    });
  });

  test('changes nothing when an upgrade has nothing to change', async () => {
    const before = await lab.bench.get('deployment,service,configmap', '-n', 'apps');

    await upgrade('--set', 'greeting=bye');

    expect(await lab.bench.get('deployment,service,configmap', '-n', 'apps')).toEqual(before);
  });

  test('lists, rolls back and shows the history of releases', async () => {
    await lab.bench.helm(3, 'rollback', 'web', '1', '-n', 'apps', '--wait');

    const listed = await lab.bench.helm(3, 'list', '-n', 'apps', '-o', 'json');
    const history = await lab.bench.helm(3, 'history', 'web', '-n', 'apps', '-o', 'json');

    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'web', revision: '4', status: 'deployed' }]);
    expect(JSON.parse(history.stdout)).toHaveLength(4);
    expect(await lab.bench.get('configmap', 'web', '-n', 'apps')).toMatchObject({
      data: { greeting: 'hello' },
    });
  });

  test('fails an upgrade that the API rejects, and recovers with the next one', async () => {
    const refused = await upgrade('--set', 'app=other');
    const repaired = await upgrade();

    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('field is immutable');
    expect(repaired.exitCode).toBe(0);
  });

  test('uninstalls and waits until everything is gone', async () => {
    const uninstalled = await lab.bench.helm(3, 'uninstall', 'web', '-n', 'apps', '--wait');

    expect(uninstalled).toMatchObject({ exitCode: 0 });
    expect(await lab.bench.get('deployment,replicaset,service', '-n', 'apps')).toMatchObject({ items: [] });
  });

  test('keeps release records in ConfigMaps when configured', async () => {
    const bench = lab.bench.withEnv({ HELM_DRIVER: 'configmap' });

    const installed = await bench.helm(3, 'upgrade', '--install', 'web', chart, '-n', 'apps');
    const listed = await bench.helm(3, 'list', '-n', 'apps', '-o', 'json');

    expect(installed.exitCode).toBe(0);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'web', status: 'deployed' }]);
    expect(await lab.bench.get('configmap', '-n', 'apps', '-l', 'owner=helm')).toMatchObject({
      items: [{ metadata: { name: 'sh.helm.release.v1.web.v1' } }],
    });
  });
});
