import { expect, test } from 'vitest';
import type { Backend } from '../support/world.ts';
import { exampleWorld, SOON } from './example-world.ts';

export function moduleWithValuesFromAHookTests(backend: () => Backend): void {
  test('module-with-values-from-a-hook: the chart follows the Services that the hook finds', async () => {
    await using world = await exampleWorld(backend(), 'module-with-values-from-a-hook');
    await world.converge();
    expect(world.log.printed).toEqual(['0 backends']);
    const routes = () => world.get('configmaps', 'gateway-routes');
    expect(await routes()).toMatchObject({ data: { routes: '# 0 backends\n' } });
    const shop = {
      kind: 'Service',
      metadata: { name: 'shop', labels: { example: 'backend' } },
      spec: { ports: [{ port: 8080 }] },
    };
    await world.create('services', shop);
    const line = `/shop -> shop.${world.namespace}:8080`;
    await expect.poll(routes, SOON).toMatchObject({ data: { routes: `# 1 backends\n${line}\n` } });
    await world.expect({ method: 'DELETE', path: world.path('services', 'shop') });
    await expect.poll(routes, SOON).toMatchObject({ data: { routes: '# 0 backends\n' } });
  });
}
