import { expect } from 'vitest';
import { World } from '../../support/world.ts';
import { inWorld, recordingHook } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const GLOBAL = [
  'config-first',
  'config-settings',
  'config-retries',
  'config-bursts',
  'config-keys',
  'config-schedule',
  'config-kubernetes',
  'config-name-selector',
  'config-snapshots-only',
  'config-synchronization',
];
const MODULE = ['config-module'];

/** Configurations that are only shown: hooks that have them are loaded and started. */
export const configScenario: Scenario = {
  title: 'hooks with the configurations of the pages start',
  takes: [...GLOBAL, ...MODULE],
  gives: [],
  async run(backend, taken) {
    await using world = await World.create(backend, { flags: { jq: 'builtin' } });
    const hooks = (names: readonly string[], directory: string) =>
      Object.fromEntries(
        names.map((name) => [`${directory}${name}.sh`, recordingHook(inWorld(world, taken(name)))]),
      );
    await world.write('global-hooks', hooks(GLOBAL, ''));
    await world.write('modules', {
      '010-web/values.yaml': 'webEnabled: true\n',
      ...hooks(MODULE, '010-web/hooks/'),
    });
    await world.converge();
    expect(world.daemon.operator.globalHooks.runtimes.map(({ hook }) => hook.name)).toEqual(
      GLOBAL.map((name) => `${name}.sh`).toSorted(),
    );
    await world.log.untilPrinted('run config-module.sh 0');
    return {};
  },
};
