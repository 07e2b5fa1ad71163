import { expect, test } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import type { Backend } from '../support/world.ts';
import { exampleWorld } from './example-world.ts';

export function enabledScriptTests(backend: () => Backend): void {
  test(
    'enabled-script: the second module is disabled and enabled with the first, with a reason',
    apiIndependent,
    async () => {
      await using world = await exampleWorld(backend(), 'enabled-script');
      await world.converge();
      expect(world.daemon.operator.registry.enabled).toEqual(['database', 'backup']);
      expect(await world.get('configmaps', 'backup')).toBeDefined();

      await world.putConfig({ databaseEnabled: 'false' });
      await world.log.untilMessage('ConvergeModules task done', 2);
      expect(world.daemon.operator.registry.enabled).toEqual([]);
      expect(world.log.dump()).toContain('there is no database to back up');
      expect(await world.get('configmaps', 'backup')).toBeUndefined();
      const deleted = world.log.records.filter(
        ({ msg }) => msg === 'ModuleDelete success, module is deleted',
      );
      expect(deleted.map(({ module }) => module)).toEqual(['backup', 'database']);

      await world.putConfig({ databaseEnabled: 'true' });
      await world.log.untilMessage('ConvergeModules task done', 3);
      expect(await world.get('configmaps', 'backup')).toBeDefined();
    },
  );
}
