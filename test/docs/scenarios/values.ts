import { expect } from 'vitest';
import { World } from '../../support/world.ts';
import { formatSample } from '../format-sample.ts';
import { kept, recordingHook } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const writing = (variable: string, patch: string): string => `cat > "$${variable}" <<'PATCH'\n${patch}PATCH`;

/** A global hook enables a module, whose hooks read and change its values. */
export const valuesScenario: Scenario = {
  title: 'hooks read and change values as the pages show',
  takes: ['values-global-patch', 'values-patch', 'values-config-patch'],
  gives: ['values-file', 'values-config-file', 'values-after', 'values-config-map'],
  async run(backend, taken) {
    await using world = await World.create(backend, {
      config: { web: 'replicas: 2\n' },
      globalHooks: {
        'project.sh': recordingHook(
          'configVersion: v1\nbeforeAll: 1',
          writing('VALUES_JSON_PATCH_PATH', taken('values-global-patch')),
        ),
      },
      modules: {
        '010-web/values.yaml': 'web:\n  replicas: 1\n  mode: plain\n',
        '010-web/hooks/facts.sh': recordingHook(
          'configVersion: v1\nbeforeHelm: 1',
          writing('VALUES_JSON_PATCH_PATH', taken('values-patch')),
        ),
        '010-web/hooks/save.sh': recordingHook(
          'configVersion: v1\nbeforeHelm: 2',
          writing('CONFIG_VALUES_JSON_PATCH_PATH', taken('values-config-patch')),
        ),
        '010-web/hooks/show.sh': recordingHook('configVersion: v1\nbeforeHelm: 3'),
      },
    });
    await world.converge();
    const map = await world.get('configmaps', 'addon-operator');
    expect(map).toHaveProperty('data');
    return {
      'values-file': await kept(world, 'facts.sh', 0, 'VALUES_PATH'),
      'values-config-file': await kept(world, 'facts.sh', 0, 'CONFIG_VALUES_PATH'),
      'values-after': await kept(world, 'show.sh', 0, 'VALUES_PATH'),
      'values-config-map': `${formatSample(map?.['data'])}\n`,
    };
  },
};
