import { join } from 'node:path';
import { lockText } from '../../../src/authorization/digest-policy.ts';
import { World, type WorldOptions } from '../../support/world.ts';
import { configMapChart, under } from '../../support/world-files.ts';
import { inWorld, kept, recordingHook } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const HOOK = 'hook.sh';

/** A world with a module to deploy and a global hook with the configuration of the page. */
async function deployingWorld(
  backend: Parameters<Scenario['run']>[0],
  config: string,
  options: WorldOptions = {},
): Promise<World> {
  const world = await World.create(backend, {
    ...options,
    modules: {
      ...under('010-web', configMapChart('web', 'web')),
      '010-web/module.yaml': 'version: 1.4.0\n',
      '010-web/values.yaml': 'web: {}\n',
    },
    config: { webEnabled: 'true' },
  });
  await world.write('global-hooks', { [HOOK]: recordingHook(inWorld(world, config)) });
  return world;
}

const deploys: Scenario = {
  title: 'a hook of a deploy gets the contexts of its steps',
  takes: ['config-deploy'],
  gives: ['context-before-install', 'context-after-launch', 'context-before-uninstall'],
  async run(backend, taken) {
    await using world = await deployingWorld(backend, taken('config-deploy'));
    await world.converge();
    await world.putConfig({ webEnabled: 'true', web: 'color: red\n' });
    const beforeInstall = await kept(world, HOOK, 4);
    const afterLaunch = await kept(world, HOOK, 7);
    await world.putConfig({ webEnabled: 'false' });
    return {
      'context-before-install': beforeInstall,
      'context-after-launch': afterLaunch,
      'context-before-uninstall': await kept(world, HOOK, 8),
    };
  },
};

const refusals: Scenario = {
  title: 'a hook of a deploy gets to know of modules that are not authorized',
  takes: ['config-deploy'],
  gives: ['context-after-auth-fail'],
  async run(backend, taken) {
    await using world = await deployingWorld(backend, taken('config-deploy'), {
      env: (directory) => ({ AUTH_POLICY: 'digest', AUTH_LOCK_FILE: join(directory, 'modules/lock.json') }),
    });
    await world.write('modules', { 'lock.json': lockText(new Map()) });
    await world.start();
    return { 'context-after-auth-fail': await kept(world, HOOK, 0) };
  },
};

export const deployScenarios: readonly Scenario[] = [deploys, refusals];
