import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { API_INDEPENDENT_TAG } from '../support/api-independent.ts';
import type { Backend } from '../support/world.ts';
import { exampleDirectory, exampleWorld, SOON } from './example-world.ts';

const ROOT = join(fileURLToPath(import.meta.url), '../../..');

export function continuousReconcileTests(backend: () => Backend): void {
  test('continuous-reconcile: a workload that was scaled to zero is restored, and the flow hook logs it', async () => {
    await using world = await exampleWorld(backend(), 'continuous-reconcile');
    const path = `/apis/apps/v1/namespaces/${world.namespace}/deployments/logging`;
    const replicas = async (): Promise<unknown> =>
      ((await world.expect({ path })) as { spec: { replicas: number } }).spec.replicas;
    await world.converge();
    await world.log.untilMessage('logging: Succeeded');
    await world.expect({
      method: 'PATCH',
      path,
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas: 0 } },
    });
    expect(await replicas()).toBe(0);
    await world.clock.passSleep(20_000);
    await expect.poll(replicas, SOON).toBe(2);
    await world.log.untilMessage('logging: Succeeded', 2);
  });

  test('continuous-reconcile: its types are right, and its own test passes', {
    tags: [API_INDEPENDENT_TAG],
    timeout: 300_000,
  }, async () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const project = exampleDirectory('continuous-reconcile', 'tsconfig.json');
    await execa(process.execPath, [tsc, '--project', project, '--customConditions', 'source']);
    const file = exampleDirectory('continuous-reconcile', 'test/tell.test.ts');
    const { stdout } = await execa(process.execPath, ['--conditions=source', '--test', file]);
    expect(stdout).toContain('pass 2');
  });
}
