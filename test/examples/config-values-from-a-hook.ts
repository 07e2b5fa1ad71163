import { expect, test } from 'vitest';
import type { Backend } from '../support/world.ts';
import { exampleWorld } from './example-world.ts';

export function configValuesFromAHookTests(backend: () => Backend): void {
  test('config-values-from-a-hook: the id is made once, kept in the ConfigMap and handed to the chart', async () => {
    await using world = await exampleWorld(backend(), 'config-values-from-a-hook');
    await world.converge();
    const id = /^the cluster gets the id ([0-9a-f]{16})$/.exec(world.log.printed[0] ?? '')?.[1] ?? 'none';
    expect(await world.get('configmaps', 'identity')).toMatchObject({ data: { clusterId: id } });
    const config = await world.get('configmaps', 'addon-operator');
    expect(JSON.stringify(config?.['data'])).toContain(id);
    await world.stop();
    await world.converge();
    expect(world.log.printed.slice(1)).toEqual(['the cluster has an id']);
    expect(await world.get('configmaps', 'identity')).toMatchObject({ data: { clusterId: id } });
  });
}
