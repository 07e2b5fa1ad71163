import { rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import type { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, type FileTree, under } from '../support/world-files.ts';

const HELD = 'Releases without a module are kept until their removal is confirmed';

/** Moves something aside as an unmounted volume does: nothing that the daemon can read says that it was there. */
async function moveAside(world: World, name: string): Promise<() => Promise<void>> {
  const [path, aside] = [
    join(world.directory, name),
    join(world.directory, `aside-${name.replace('/', '-')}`),
  ];
  await rename(path, aside);
  return async () => await rename(aside, path);
}

function modulesNamed(names: readonly string[]): FileTree {
  const charts = names.map((name) => under(`001-${name}`, configMapChart(name, name)));
  const flags = names.map((name) => `${name}Enabled: true\n`).join('');
  return Object.assign({ 'values.yaml': flags }, ...charts) as FileTree;
}

async function isDeployed(world: World, name: string): Promise<boolean> {
  return (await world.get('configmaps', name)) !== undefined;
}

/** Releases whose modules' directories are gone; the case B1 of the catalogue, and volumes that are not mounted. */
describeLifecycle((backend) => {
  test('an emptied modules directory removes no release at any start, until it is filled', async () => {
    const name = uniqueName();
    await using made = await moduleWorld(backend(), { modules: modulesNamed([name]) }, [name]);
    const { world } = made;
    await world.converge();
    await untilStatus(world, name, { phase: 'Succeeded' });
    await world.stop();
    const mount = await moveAside(world, 'modules');
    for (let start = 1; start <= 2; start += 1) {
      await world.write('modules', {});
      await world.converge();
      await world.log.untilMessage(HELD, start);
      const condition = { type: 'Stalled', status: 'True', reason: 'DirectoryGone' };
      const { status } = await untilStatus(world, name, {
        phase: 'Failed',
        conditions: expect.arrayContaining([expect.objectContaining(condition)]),
      });
      expect(JSON.stringify(status)).toContain('addon-operator module confirm-purge');
      const { stdout } = await runInWorld(world, 'explain', 'module', name);
      expect(stdout).toContain('contained modules before and is empty now');
      expect(stdout).toContain('addon-operator module confirm-purge');
      await world.stop();
    }
    expect(await isDeployed(world, name)).toBe(true);
    await rmdir(join(world.directory, 'modules'));
    await mount();
    await world.converge();
    await untilStatus(world, name, { phase: 'Succeeded' });
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
  });

  test('releases of most modules stay when their directories are gone, until the removal is confirmed', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName(), uniqueName()];
    const gone = names.slice(0, 3);
    await using made = await moduleWorld(
      backend(),
      {
        modules: modulesNamed(names),
      },
      names,
    );
    const { world } = made;
    await world.converge();
    await world.stop();
    for (const name of gone) await moveAside(world, `modules/001-${name}`);
    await world.converge();
    await world.log.untilMessage(HELD);
    const record = world.log.records.find(({ msg }) => msg === HELD);
    expect(record).toMatchObject({
      level: 'error',
      releases: gone.toSorted(),
      reason: 'the directories of 3 of 4 modules with releases are gone',
      command: 'addon-operator module confirm-purge',
    });
    for (const name of gone) await untilStatus(world, name, { phase: 'Failed' });
    expect(await Promise.all(names.map((name) => isDeployed(world, name)))).toEqual([true, true, true, true]);
    expect(await runInWorld(world, 'module', 'confirm-purge')).toMatchObject({ exitCode: 0 });
    await world.log.untilMessage('Release without a module is removed', 3);
    expect(await Promise.all(names.map((name) => isDeployed(world, name)))).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(await runInWorld(world, 'module', 'confirm-purge')).toMatchObject({
      exitCode: 1,
      stderr:
        'error: no release waits for confirmation\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
    });
  });
});

describeApiIndependent((backend) => {
  test('a module whose entry is removed while files are watched is deleted, unless most are gone', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName(), uniqueName()];
    const [name, ...rest] = names as [string, ...string[]];
    const options = { modules: modulesNamed(names), flags: { 'watch-files': 'true' } };
    await using made = await moduleWorld(backend(), options, names);
    const { world } = made;
    await world.converge();
    for (const each of names) await untilStatus(world, each, { phase: 'Succeeded' });
    await moveAside(world, `modules/001-${name}`);
    await world.log.untilMessage('Release without a module is removed');
    expect(await isDeployed(world, name)).toBe(false);
    await Promise.all(rest.map((each) => moveAside(world, `modules/001-${each}`)));
    for (const each of rest)
      await untilStatus(world, each, {
        conditions: expect.arrayContaining([expect.objectContaining({ reason: 'DirectoryGone' })]),
      });
    expect(await Promise.all(rest.map((each) => isDeployed(world, each)))).toEqual([true, true, true]);
  });

  test('modules that are disabled by flags are deleted, however many they are', async () => {
    const names = [uniqueName(), uniqueName(), uniqueName()];
    await using made = await moduleWorld(
      backend(),
      {
        modules: modulesNamed(names),
      },
      names,
    );
    const { world } = made;
    await world.converge();
    await world.stop();
    await world.write('modules', { 'values.yaml': '' });
    await world.converge();
    await world.log.untilMessage('ModuleDelete success, module is deleted', 3);
    expect(await Promise.all(names.map((name) => isDeployed(world, name)))).toEqual([false, false, false]);
  });
});
