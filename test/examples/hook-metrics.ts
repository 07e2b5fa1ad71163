import { expect, test } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import type { Backend, World } from '../support/world.ts';
import { exampleWorld, remove, SOON } from './example-world.ts';

export function hookMetricsTests(backend: () => Backend): void {
  test('hook-metrics: the series follow the ConfigMaps and go with them', apiIndependent, async () => {
    await using world = await exampleWorld(backend(), 'hook-metrics');
    await world.converge();
    const series = `example_config_maps{hook="count.mjs",namespace="${world.namespace}"}`;
    expect(await scrape(world)).toContain('example_counts_total{hook="count.mjs"} 1');
    const one = { metadata: { name: 'one', labels: { example: 'counted' } }, data: { a: '1' } };
    await world.create('configmaps', one);
    await expect.poll(() => scrape(world), SOON).toContain(`${series} 1`);
    expect(await scrape(world)).toContain('example_config_map_entries_bucket{hook="count.mjs",le="1"} 1');
    await remove(world, world.path('configmaps', 'one'));
    await expect.poll(() => scrape(world), SOON).not.toContain(series);
    expect(await scrape(world)).toContain('example_counts_total{hook="count.mjs"} 1');
  });
}

async function scrape(world: World): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`);
  return response.text();
}
