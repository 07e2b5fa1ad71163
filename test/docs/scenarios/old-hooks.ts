import { World } from '../../support/world.ts';
import { inWorld, kept, recordingHook } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const HOOK = 'old.sh';

export const oldHookScenario: Scenario = {
  title: 'a hook without configVersion gets the contexts of its page',
  takes: ['config-old'],
  gives: ['context-old-startup', 'context-old-add', 'context-old-update', 'context-old-delete'],
  async run(backend, taken) {
    await using world = await World.create(backend, { flags: { jq: 'builtin' } });
    await world.write('global-hooks', { [HOOK]: recordingHook(inWorld(world, taken('config-old'))) });
    await world.converge();
    const startup = await kept(world, HOOK, 0);
    const map = { metadata: { name: 'settings', labels: { app: 'web' } }, data: { color: 'blue' } };
    await world.create('configmaps', map);
    const add = await kept(world, HOOK, 1);
    await world.merge('configmaps', 'settings', { data: { color: 'red' } });
    const update = await kept(world, HOOK, 2);
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'settings') });
    return {
      'context-old-startup': startup,
      'context-old-add': add,
      'context-old-update': update,
      'context-old-delete': await kept(world, HOOK, 3),
    };
  },
};
