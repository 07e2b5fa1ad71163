import { expect } from 'vitest';
import { World } from '../../support/world.ts';
import { shHook } from '../../support/world-files.ts';
import { inWorld } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const STEPS = [
  'objects-create',
  'objects-merge-patch',
  'objects-json-patch',
  'objects-jq-patch',
  'objects-stream',
  'objects-delete',
] as const;

/** Each operation changes what the ones before it left; every change is looked at in the cluster. */
export const objectsScenario: Scenario = {
  title: 'the operations of the pages are carried out',
  takes: [...STEPS],
  gives: [],
  async run(backend, taken) {
    await using world = await World.create(backend, { flags: { jq: 'builtin' } });
    const hooks = STEPS.map((name, index) => [
      `${index}.sh`,
      shHook(
        `onStartup: ${index}`,
        `cat > "$KUBERNETES_PATCH_PATH" <<'OPERATIONS'\n${inWorld(world, taken(name))}OPERATIONS`,
      ),
    ]);
    await world.write('global-hooks', Object.fromEntries(hooks));
    await world.converge();
    expect(await world.get('configmaps', 'state')).toMatchObject({ data: { runs: '4', last: 'ok' } });
    expect(await world.get('configmaps', 'state')).not.toHaveProperty('data.draft');
    expect(await world.get('configmaps', 'once')).toMatchObject({ data: { made: 'yes' } });
    expect(await world.get('configmaps', 'scratch')).toBeUndefined();
    expect(await world.get('services', 'front')).toMatchObject({
      spec: { ports: [{ name: 'http', port: 8080 }] },
      metadata: { labels: { tier: 'web' } },
    });
    return {};
  },
};
