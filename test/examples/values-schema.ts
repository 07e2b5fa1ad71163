import { expect, test, vi } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import type { Backend } from '../support/world.ts';
import { exampleWorld, SOON } from './example-world.ts';

export function valuesSchemaTests(backend: () => Backend): void {
  test(
    'values-schema: defaults are set, mistakes are named and change nothing, a corrected section is deployed',
    apiIndependent,
    async () => {
      await using world = await exampleWorld(backend(), 'values-schema', { config: {} });
      await world.converge();
      const shown = { host: 'localhost', replicas: '2', zone: 'a' };
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: shown });
      await world.putConfig({ web: 'replicas: many\nhots: a.example' });
      await world.untilDelayed();
      const error = world.daemon.operator.router.main.entries[0]?.lastError;
      expect(error).toContain('web.replicas in body must be of type integer: "string"');
      expect(error).toContain('web.hots in body is a forbidden property');
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: shown });
      await world.putConfig({ web: 'replicas: 4\nhost: a.example' });
      await vi.waitFor(
        async () =>
          expect(await world.get('configmaps', 'web')).toMatchObject({
            data: { host: 'a.example', replicas: '4' },
          }),
        SOON,
      );
    },
  );
}
