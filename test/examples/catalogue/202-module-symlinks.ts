import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { requestDebug } from '../../../src/server/debug-client.ts';
import { apiIndependent } from '../../support/api-independent.ts';
import type { Backend } from '../../support/world.ts';
import { exampleWorld, read } from '../example-world.ts';
import { cataloguePath, requireTools } from './catalogue-world.ts';

const NAME = '202-module-symlinks';

export function moduleSymlinksTests(backend: () => Backend): void {
  test(
    '202-module-symlinks: modules of two directories, one of them a link, run in their order',
    apiIndependent,
    async (context) => {
      requireTools(context, 'bash');
      const modules = ['module_dir_1', 'module_dir_2'].map((name) => cataloguePath(NAME, name)).join(':');
      const options = { directories: { modules }, config: {} };
      await using world = await exampleWorld(backend(), `catalogue/${NAME}`, options);
      await world.converge();
      expect(world.log.printed).toEqual([
        '[001-backend/startup] is triggered',
        '[002-frontend/startup] is triggered',
      ]);
      for (const name of ['backend', 'frontend']) {
        const path = `/apis/apps/v1/namespaces/${world.namespace}/deployments/${name}`;
        expect(await read(world, path)).toMatchObject({ spec: { replicas: 1 } });
      }
      const socketPath = String(world.flags['debug-unix-socket']);
      const { body } = await requestDebug({ socketPath, path: '/module/list.json' }, systemClock);
      expect(JSON.parse(body)).toEqual({ enabledModules: ['backend', 'frontend'] });
    },
  );
}
