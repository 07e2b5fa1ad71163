import { expect, test } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import type { Backend } from '../support/world.ts';
import { exampleDirectory, exampleWorld } from './example-world.ts';

export function symlinkedModuleTests(backend: () => Backend): void {
  test(
    'symlinked-module: a linked module of a second directory runs in its place in the order',
    apiIndependent,
    async () => {
      const directories = ['modules', 'team-modules'].map((name) =>
        exampleDirectory('symlinked-module', name),
      );
      const options = { directories: { modules: directories.join(':') }, config: {} };
      await using world = await exampleWorld(backend(), 'symlinked-module', options);
      await world.converge();
      expect(world.daemon.operator.registry.enabled).toEqual(['local', 'banner']);
      expect(await world.get('configmaps', 'banner')).toMatchObject({
        data: { text: 'from the library', color: 'green' },
      });
      await world.putConfig({ banner: 'text: from the ConfigMap\n' });
      await world.log.untilMessage('ModuleRun success, module is ready', 3);
      expect(await world.get('configmaps', 'banner')).toMatchObject({ data: { text: 'from the ConfigMap' } });
    },
  );
}
