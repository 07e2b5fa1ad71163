import { expect, test } from 'vitest';
import type { Backend } from '../support/world.ts';
import { exampleWorld, read, remove } from './example-world.ts';

const NAMESPACE = '/api/v1/namespaces/example-startup';

export function startupHookTests(backend: () => Backend): void {
  test('startup-hook: the namespace exists when the operator is ready, and again after a restart', async () => {
    await using world = await exampleWorld(backend(), 'startup-hook');
    try {
      await world.converge();
      expect(world.log.printed).toEqual(['namespace example-startup is wanted']);
      expect(await read(world, NAMESPACE)).toMatchObject({
        metadata: { labels: { example: 'startup-hook' } },
      });
      await world.stop();
      await world.converge();
      expect(world.log.printed).toHaveLength(2);
    } finally {
      await remove(world, NAMESPACE);
    }
  });
}
