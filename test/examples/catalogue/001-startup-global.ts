import { expect, test } from 'vitest';
import { apiIndependent } from '../../support/api-independent.ts';
import type { Backend, WorldOptions } from '../../support/world.ts';
import { exampleWorld } from '../example-world.ts';
import { requireTools } from './catalogue-world.ts';

const NAME = '001-startup-global';

export function startupGlobalTests(backend: () => Backend): void {
  test.for<[string, WorldOptions]>([
    ['without a ConfigMap', {}],
    ['with an empty global section', { config: { global: '' } }],
  ])(
    '001-startup-global: the hook runs once, and the daemon is ready %s',
    apiIndependent,
    async ([, options], context) => {
      requireTools(context, 'bash');
      await using world = await exampleWorld(backend(), `catalogue/${NAME}`, options);
      await world.converge();
      const lines = world.log.records.filter(({ msg }) => msg === 'OnStartup global shell hook');
      expect(lines).toEqual([expect.objectContaining({ output: 'stdout', hook: 'hook.sh' })]);
      await world.log.untilMessage('first converge is finished. Operator is ready now.');
      const ready = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/readyz`);
      expect(ready.status).toBe(200);
    },
  );
}
