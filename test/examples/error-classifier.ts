import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { API_INDEPENDENT_TAG } from '../support/api-independent.ts';
import type { Backend } from '../support/world.ts';
import { exampleDirectory, exampleWorld, read, remove } from './example-world.ts';

const ROOT = join(fileURLToPath(import.meta.url), '../../..');

export function errorClassifierTests(backend: () => Backend): void {
  test('error-classifier: an error that is fatal by default is retried for one kind', async () => {
    await using world = await exampleWorld(backend(), 'error-classifier', {
      flags: { 'fatal-deploy-errors': 'stop' },
    });
    const team = `${world.namespace}-team`;
    const section = `namespace: ${team}\n`;
    await world.putConfig({ teamAccounts: section, teamSettings: section });
    const namespace = `/api/v1/namespaces/${team}`;
    await world.start();
    expect(await world.untilDelayed()).toBe(5_000);
    expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain(
      `(NotFound: namespace ${team} is still to be made)`,
    );
    expect(world.log.records).toContainEqual(
      expect.objectContaining({
        module: 'team-accounts',
        error: expect.stringContaining('(fatal: NotFound)'),
      }),
    );
    await world.expect({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: team } },
    });
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(await read(world, `${namespace}/configmaps/settings`)).toMatchObject({
      data: { region: 'north' },
    });
    expect(await read(world, `${namespace}/serviceaccounts/deployer`)).toBeUndefined();
    await world.putConfig({ teamAccounts: `${section}again: 1\n`, teamSettings: section });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await read(world, `${namespace}/serviceaccounts/deployer`)).toBeDefined();
    await remove(world, namespace);
  });

  test('error-classifier: its types are right, and its own test passes', {
    tags: [API_INDEPENDENT_TAG],
    timeout: 300_000,
  }, async () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const project = exampleDirectory('error-classifier', 'tsconfig.json');
    await execa(process.execPath, [tsc, '--project', project, '--customConditions', 'source']);
    const file = exampleDirectory('error-classifier', 'test/config-map.test.ts');
    const { stdout } = await execa(process.execPath, ['--conditions=source', '--test', file]);
    expect(stdout).toContain('pass 2');
  });
}
