import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSandboxLab, type SandboxLab } from './sandbox-lab.ts';
import { writeWebChart } from './web-chart.ts';

describe('helm 4 on the sandbox', () => {
  let lab: SandboxLab;
  let chart = '';

  beforeAll(async () => {
    lab = await openSandboxLab();
    chart = await writeWebChart(lab.bench);
  });

  afterAll(() => lab.close());

  function upgrade(...args: readonly string[]): ReturnType<typeof lab.bench.helm> {
    return lab.bench.helm(4, 'upgrade', '--install', 'web', chart, ...args);
  }

  test('installs with hooks by server-side apply and waits by streaming lists', async () => {
    const installed = await upgrade('--wait', '--timeout', '20s');

    expect(installed).toMatchObject({ exitCode: 0 });
    expect(await lab.bench.get('deployment', 'web', '--show-managed-fields')).toMatchObject({
      metadata: { managedFields: [{ manager: 'helm', operation: 'Apply' }, {}, {}] },
      status: { readyReplicas: 1 },
    });
  });

  test('does not change unchanged objects', async () => {
    const before = await lab.bench.get('deployment,service,configmap');
    expect(await upgrade()).toMatchObject({ exitCode: 0 });
    expect(await lab.bench.get('deployment,service,configmap')).toEqual(before);
  });

  test('removes objects that the chart no longer contains', async () => {
    await lab.bench.kubectl('patch', 'configmap', 'web', '--type=merge', '-p', '{"data":{"mine":"x"}}');
    await upgrade('--set', 'greeting=bye');
    expect(await lab.bench.get('configmap', 'web')).toMatchObject({ data: { greeting: 'bye', mine: 'x' } });
  });

  test('conflicts with a field of another manager, unless conflicts are forced', async () => {
    await lab.bench.kubectl(
      'patch',
      'configmap',
      'web',
      '--type=merge',
      '-p',
      '{"data":{"greeting":"mine"}}',
    );

    const refused = await upgrade('--set', 'greeting=again');

    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('conflict with "kubectl-patch" using v1: .data.greeting');
    expect(await upgrade('--set', 'greeting=again', '--force-conflicts')).toMatchObject({ exitCode: 0 });
    expect(await lab.bench.get('configmap', 'web')).toMatchObject({ data: { greeting: 'again' } });
  });

  test('upgrades a release of helm 3', async () => {
    await lab.bench.helm(3, 'upgrade', '--install', 'old', chart);
    expect(await lab.bench.helm(4, 'upgrade', 'old', chart, '--set', 'greeting=new')).toMatchObject({
      exitCode: 0,
    });
    expect(await lab.bench.get('configmap', 'old')).toMatchObject({ data: { greeting: 'new' } });
  });

  test('shows the objects of a release, rolls back and uninstalls', async () => {
    expect((await lab.bench.helm(4, 'status', 'web')).stdout).toMatch(/==> v1\/Deployment\nNAME\s+READY/);
    expect(await lab.bench.helm(4, 'rollback', 'web', '1')).toMatchObject({ exitCode: 0 });
    expect(await lab.bench.helm(4, 'uninstall', 'web', '--wait')).toMatchObject({ exitCode: 0 });
    expect((await lab.bench.kubectl('get', 'deployment', 'web')).stderr).toContain('NotFound');
  });
});
