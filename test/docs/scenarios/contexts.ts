import { expect } from 'vitest';
import { World } from '../../support/world.ts';
import { inWorld, kept, recordingHook } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const SOON = { timeout: 60_000, interval: 20 };
const HOOK = 'hook.sh';

/** A world with one object to watch and a global hook with the configuration of a page; the daemon is not started yet. */
async function watchingWorld(backend: Parameters<Scenario['run']>[0], config: string): Promise<World> {
  const world = await World.create(backend, { flags: { jq: 'builtin' } });
  await createMap(world, 'settings', 'blue');
  await world.write('global-hooks', { [HOOK]: recordingHook(inWorld(world, config)) });
  return world;
}

async function createMap(world: World, name: string, color: string): Promise<void> {
  const map = { metadata: { name, labels: { app: 'web' } }, data: { color } };
  await world.create('configmaps', map);
}

async function remove(world: World, name: string): Promise<void> {
  await world.expect({ method: 'DELETE', path: world.path('configmaps', name) });
}

const reasons: Scenario = {
  title: 'a global hook gets the contexts of its start, of events and of its schedule',
  takes: ['config-contexts'],
  gives: [
    'context-on-startup',
    'context-synchronization',
    'context-before-all',
    'context-added',
    'context-modified',
    'context-deleted',
    'context-schedule',
    'context-combined',
  ],
  async run(backend, taken) {
    await using world = await watchingWorld(backend, taken('config-contexts'));
    await world.converge();
    const start = [await kept(world, HOOK, 0), await kept(world, HOOK, 1), await kept(world, HOOK, 2)];
    await createMap(world, 'theme', 'green');
    const added = await kept(world, HOOK, 3);
    await world.merge('configmaps', 'theme', { data: { color: 'red' } });
    const modified = await kept(world, HOOK, 4);
    await remove(world, 'theme');
    const deleted = await kept(world, HOOK, 5);
    await world.daemon.operator.router.main.untilEmpty();
    world.clock.jump(DAY_MS);
    const schedule = await kept(world, HOOK, 6);
    await world.daemon.operator.router.main.untilEmpty();
    const combined = await whileItRuns(world);
    const [onStartup = '', synchronization = '', beforeAll = ''] = start;
    return {
      'context-on-startup': onStartup,
      'context-synchronization': synchronization,
      'context-before-all': beforeAll,
      'context-added': added,
      'context-modified': modified,
      'context-deleted': deleted,
      'context-schedule': schedule,
      'context-combined': combined,
    };
  },
};

/** What the hook gets for two events that happen while it runs for another. */
async function whileItRuns(world: World): Promise<string> {
  await world.write('modules', { '../hold': '' });
  await world.merge('configmaps', 'settings', { data: { color: 'grey' } });
  await kept(world, HOOK, 7);
  await world.merge('configmaps', 'settings', { data: { color: 'white' } });
  await createMap(world, 'theme', 'black');
  await expect.poll(() => world.daemon.operator.router.main.entries.length, SOON).toBe(3);
  await world.expel('hold');
  return await kept(world, HOOK, 8);
}

const groups: Scenario = {
  title: 'the bindings of a group give one context with the snapshots of all',
  takes: ['config-group'],
  gives: ['context-group'],
  async run(backend, taken) {
    await using world = await watchingWorld(backend, taken('config-group'));
    const secret = { metadata: { name: 'password', labels: { app: 'web' } } };
    await world.create('secrets', secret);
    await world.converge();
    return { 'context-group': await kept(world, HOOK, 0) };
  },
};

const lean: Scenario = {
  title: 'without full objects in memory contexts have filter results only',
  takes: ['config-lean'],
  gives: ['context-lean-synchronization', 'context-lean-event'],
  async run(backend, taken) {
    await using world = await watchingWorld(backend, taken('config-lean'));
    await world.converge();
    const synchronization = await kept(world, HOOK, 0);
    await world.merge('configmaps', 'settings', { data: { color: 'red' } });
    return {
      'context-lean-synchronization': synchronization,
      'context-lean-event': await kept(world, HOOK, 1),
    };
  },
};

const lifecycle: Scenario = {
  title: 'a module hook gets the contexts of its lifecycle bindings',
  takes: [],
  gives: ['context-before-helm'],
  async run(backend) {
    await using world = await World.create(backend, {
      modules: {
        '010-web/values.yaml': 'webEnabled: true\n',
        '010-web/hooks/hook.sh': recordingHook('configVersion: v1\nbeforeHelm: 1'),
      },
    });
    await world.converge();
    return { 'context-before-helm': await kept(world, HOOK, 0) };
  },
};

export const contextScenarios: readonly Scenario[] = [reasons, groups, lean, lifecycle];
