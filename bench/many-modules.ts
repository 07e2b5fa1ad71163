import { World } from '../test/support/world.ts';
import { benchConfigEdit } from './config-edit.ts';
import { benchIdle, benchMinute } from './idle.ts';
import { moduleSet } from './module-set.ts';
import { benchRestart } from './restart.ts';
import { type SandboxProcess, startSandboxProcess } from './sandbox-process.ts';

const RESTART_AIM = '<= 1.5';

/** What daemons with many modules cost once everything is deployed. The API server is a process of its own. */
export async function benchManyModules(): Promise<void> {
  await using sandbox = await startSandboxProcess();
  await benchFew(sandbox);
  await benchHundred(sandbox);
  await benchLeast(sandbox);
}

async function benchFew({ backend, url }: SandboxProcess): Promise<void> {
  const set = moduleSet(20, 'none', 'usual');
  await using world = await deployed(backend, set);
  await benchRestart({ what: 'restart of 20 modules', aim: '-' }, world, set, url);
  await benchConfigEdit(world, set);
  await benchMinute(world, set.names.length, url);
}

async function benchHundred({ backend, url }: SandboxProcess): Promise<void> {
  const set = moduleSet(100, 'half', 'usual');
  await using world = await deployed(backend, set);
  await benchRestart({ what: 'restart of 100 modules', aim: RESTART_AIM }, world, set, url);
  await benchConfigEdit(world, set);
  await benchIdle(world, set.names.length, url);
}

/** The less hooks and scripts do themselves, the more of a restart is the daemon's. */
async function benchLeast({ backend, url }: SandboxProcess): Promise<void> {
  const set = moduleSet(100, 'half', 'least');
  await using world = await deployed(backend, set);
  await benchRestart(
    { what: 'the same, hooks and scripts run builtins only', aim: RESTART_AIM },
    world,
    set,
    url,
  );
}

/** A world in which a daemon has deployed all modules; it is down. */
async function deployed(
  backend: SandboxProcess['backend'],
  { files }: ReturnType<typeof moduleSet>,
): Promise<World> {
  const world = await World.create(backend, { modules: files, flags: { 'log-level': 'info' } });
  await world.converge();
  await world.daemon.operator.router.main.untilEmpty();
  await world.stop();
  return world;
}
