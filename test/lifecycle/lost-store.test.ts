import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName, untilStatus } from '../support/module-world.ts';
import { addVersion, lookAtFiles, storeWorld, untilLive } from '../support/store/store-world.ts';
import type { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';

/** Damages the content of a module in the store, whose link stays. */
const DAMAGES: Readonly<Record<string, (content: string) => Promise<unknown>>> = {
  'a link that leads nowhere': (content) => rename(content, `${content}-aside`),
  'an empty directory': async (content) => {
    await rm(content, { recursive: true });
    await mkdir(content);
  },
  'no values.yaml': (content) => rm(join(content, 'values.yaml')),
  'half of its files': async (content) => {
    await rm(join(content, 'hooks'), { recursive: true });
    await rm(join(content, 'Chart.yaml'));
  },
  'files without permissions': async (content) => {
    for (const name of await readdir(join(content, 'hooks'))) await chmod(join(content, 'hooks', name), 0);
    await chmod(content, 0);
  },
};

/** The directory of the content of each module. */
async function contentsOf(world: World, names: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await runInWorld(world, 'module', 'store', 'list', '-o', 'json');
  const contents = JSON.parse(stdout) as readonly { readonly module: string; readonly digest: string }[];
  return names.map((name) => {
    const digest = contents.find(({ module }) => module === name)?.digest ?? '';
    return join(world.directory, 'store/content', digest.replace(':', '-'));
  });
}

async function untilHeld(world: World, names: readonly string[], context: string): Promise<void> {
  await lookAtFiles(world, async () => {
    const { exitCode, stdout } = await runInWorld(world, 'status');
    for (const name of names) expect(`${context}: ${stdout}`).toContain(name);
    expect({ context, exitCode }).toEqual({ context, exitCode: 1 });
  });
  const conditions = expect.arrayContaining([
    expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'DirectoryGone' }),
  ]);
  for (const name of names) await untilStatus(world, name, { conditions });
}

async function untilWell(world: World, names: readonly string[], context: string): Promise<void> {
  await lookAtFiles(world, async () => {
    const { stdout } = await runInWorld(world, 'status');
    expect(`${context}: ${stdout}`).toContain(`all is well: ${names.length} module`);
  });
}

describeLifecycle((backend) => {
  test.each([
    ['before a start', 1],
    ['before a start', 4],
    ['while it runs', 1],
    ['while it runs', 4],
  ])(
    'modules of a store whose content is damaged %s are held, and go on when it is added again: %d of 4',
    async (when, count) => {
      const names = [uniqueName(), uniqueName(), uniqueName(), uniqueName()];
      await using made = await storeWorld(backend(), names);
      const { world } = made;
      for (const name of names) await addVersion(world, name, '1.0.0');
      await world.converge();
      for (const name of names) await untilLive(world, name, '1.0.0');
      const lost = names.slice(0, count);
      for (const [damage, apply] of Object.entries(DAMAGES)) {
        if (when === 'before a start') await world.stop();
        for (const content of await contentsOf(world, lost)) await apply(content);
        if (when === 'before a start') await world.converge();
        await untilHeld(world, lost, damage);
        for (const name of names)
          expect({ damage, object: await world.get('configmaps', name) }).toHaveProperty('object.data');
        for (const name of lost) await addVersion(world, name, '1.0.0');
        await untilWell(world, names, damage);
      }
      expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
    },
  );

  test.each(['before a start', 'while it runs'])(
    'all modules of a store that is gone %s are held, and go on when it is filled again',
    async (when) => {
      const names = [uniqueName(), uniqueName(), uniqueName(), uniqueName()];
      await using made = await storeWorld(backend(), names);
      const { world } = made;
      for (const name of names) await addVersion(world, name, '1.0.0');
      await world.converge();
      for (const name of names) await untilLive(world, name, '1.0.0');
      if (when === 'before a start') await world.stop();
      await rm(join(world.directory, 'store'), { recursive: true });
      if (when === 'before a start') await world.converge();
      await untilHeld(world, names, when);
      for (const name of names) await addVersion(world, name, '1.0.0');
      await untilWell(world, names, when);
      for (const name of names) expect(await world.get('configmaps', name)).toHaveProperty('data');
      expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
    },
  );

  test.each(['before a start', 'while it watches files'])(
    'a module whose link in the store is lost %s is held, and deleted when it is removed from the store',
    async (when) => {
      const names = [uniqueName(), uniqueName()] as const;
      const [lost, other] = names;
      await using made = await storeWorld(backend(), names, {
        flags: { 'watch-files': String(when === 'while it watches files') },
      });
      const { world } = made;
      for (const name of names) await addVersion(world, name, '1.0.0');
      await world.converge();
      for (const name of names) await untilLive(world, name, '1.0.0');
      const lose = async (): Promise<void> => {
        if (when === 'before a start') await world.stop();
        await rm(join(world.directory, 'store/current', `030-${lost}`));
        if (when === 'before a start') await world.converge();
        await untilHeld(world, [lost], when);
      };
      await lose();
      // Its place need not be the one that was lost.
      const added = join(world.directory, 'versions', `${lost}-1.0.0`);
      expect((await runInWorld(world, 'module', 'store', 'add', '--order', '50', added)).exitCode).toBe(0);
      await untilWell(world, names, when);
      expect((await runInWorld(world, 'module', 'store', 'add', '--order', '30', added)).exitCode).toBe(0);
      await untilWell(world, names, when);
      expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
      await lose();
      expect((await runInWorld(world, 'module', 'store', 'remove', lost)).exitCode).toBe(0);
      await lookAtFiles(world, async () => expect(await world.get('configmaps', lost)).toBeUndefined());
      await untilWell(world, [other], when);
    },
  );
});
