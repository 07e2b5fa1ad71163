import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { API_INDEPENDENT_TAG } from '../support/api-independent.ts';
import type { Backend, World } from '../support/world.ts';
import { exampleDirectory, exampleWorld, remove, SOON } from './example-world.ts';

const ROOT = join(fileURLToPath(import.meta.url), '../../..');

export function inProcessHookTests(backend: () => Backend): void {
  test('in-process-hook: the chart and the metrics follow what the TypeScript hook counts', async () => {
    await using world = await exampleWorld(backend(), 'in-process-hook');
    await world.converge();
    expect(world.log.printed).toContain('inventory deployed');
    const labels = { example: 'counted' };
    await world.create('configmaps', { metadata: { name: 'one', labels } } as never);
    const counted = () => world.get('configmaps', 'inventory');
    await expect
      .poll(async () => JSON.stringify(await counted()), SOON)
      .toContain(`\\"${world.namespace}\\":1`);
    const series = `inventory_config_maps{hook="hooks/inventory.ts",module="inventory",namespace="${world.namespace}"}`;
    expect(await scrape(world)).toContain(`${series} 1`);
    // Examples after this one count it too, for as long as its namespace needs to go.
    await remove(world, world.path('configmaps', 'one'));
  });

  test('in-process-hook: its types are right, and its own test passes', {
    tags: [API_INDEPENDENT_TAG],
    timeout: 300_000,
  }, async () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const project = exampleDirectory('in-process-hook', 'tsconfig.json');
    await execa(process.execPath, [tsc, '--project', project, '--customConditions', 'source']);
    const file = exampleDirectory('in-process-hook', 'test/inventory.test.ts');
    const { stdout } = await execa(process.execPath, ['--conditions=source', '--test', file]);
    expect(stdout).toContain('pass 2');
  });
}

async function scrape(world: World): Promise<string> {
  return (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`)).text();
}
