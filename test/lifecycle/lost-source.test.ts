import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName, untilStatus } from '../support/module-world.ts';
import {
  deliver,
  deliveredWorld,
  loseStore,
  moveSource,
  pushVersion,
  writeSources,
} from '../support/store/delivered-world.ts';
import { untilLive } from '../support/store/store-world.ts';
import type { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';

const STALLED = { type: 'Stalled', status: 'True', reason: 'SourceUnavailable' };

async function untilStalled(world: World, name: string): Promise<void> {
  await deliver(world, async () => {
    const { exitCode, stdout } = await runInWorld(world, 'status');
    expect(stdout).toMatch(new RegExp(`module ${name} is held: .*since .*no backup`, 'u'));
    expect(exitCode).toBe(1);
  });
  await untilStatus(world, name, { conditions: expect.arrayContaining([expect.objectContaining(STALLED)]) });
}

async function untilWell(world: World, count: number): Promise<void> {
  await deliver(world, async () => {
    const { stdout } = await runInWorld(world, 'status');
    expect(stdout).toContain(`all is well: ${count} module`);
  });
}

async function uninstalls(world: World): Promise<readonly string[]> {
  return (await world.helmCalls()).filter((call) => call.startsWith('uninstall'));
}

describeLifecycle((backend) => {
  test.each(['before a start', 'while it runs'])(
    'a module whose content is nowhere %s is held, and goes on when its source is back',
    async (when) => {
      const name = uniqueName();
      await using made = await deliveredWorld(backend(), [name], { 'module-backup': 'none' });
      const { world } = made;
      await pushVersion(world, name, '1.0.0');
      await world.converge();
      await untilLive(world, name, '1.0.0');
      if (when === 'before a start') await world.stop();
      await moveSource(world, 'away');
      await loseStore(world);
      if (when === 'before a start') await world.converge();
      await untilStalled(world, name);
      expect(await world.get('configmaps', name)).toMatchObject({ data: { chart: '1.0.0' } });
      expect((await runInWorld(world, 'module', 'confirm-files', name)).exitCode).toBe(1);
      await moveSource(world, 'back');
      await untilWell(world, 1);
      await pushVersion(world, name, '1.1.0');
      await deliver(world, async () => {
        expect(await world.get('configmaps', name)).toMatchObject({
          data: { chart: '1.1.0', hook: '1.1.0' },
        });
      });
      expect(await uninstalls(world)).toEqual([]);
    },
  );

  test('an install that is deleted while its content is nowhere is a decision, and its release goes', async () => {
    const names = [uniqueName(), uniqueName()] as const;
    const [kept, gone] = names;
    await using made = await deliveredWorld(backend(), names, { 'module-backup': 'none' });
    const { world } = made;
    for (const name of names) await pushVersion(world, name, '1.0.0');
    await world.converge();
    for (const name of names) await untilLive(world, name, '1.0.0');
    await world.stop();
    await moveSource(world, 'away');
    await loseStore(world);
    await writeSources(world, [kept]);
    await world.converge();
    await deliver(world, async () => {
      expect(await world.get('configmaps', gone)).toBeUndefined();
    });
    await untilStalled(world, kept);
    expect(await uninstalls(world)).toEqual([expect.stringContaining(gone)]);
  });

  test.each([
    ['lost', 'while it runs'],
    ['lost', 'before a start'],
    ['removed', 'while it runs'],
    ['removed', 'before a start'],
  ])('the link of an installed module that is %s %s is set again', async (how, when) => {
    const name = uniqueName();
    await using made = await deliveredWorld(backend(), [name]);
    const { world } = made;
    await pushVersion(world, name, '1.0.0');
    await world.converge();
    await untilLive(world, name, '1.0.0');
    if (when === 'before a start') await world.stop();
    if (how === 'lost') await rm(join(world.directory, 'store/current', `030-${name}`));
    else await runInWorld(world, 'module', 'store', 'remove', name);
    expect(await readdir(join(world.directory, 'store/current'))).not.toContain(`030-${name}`);
    if (when === 'before a start') await world.converge();
    await deliver(world, async () => {
      const { stdout } = await runInWorld(world, 'module', 'store', 'list');
      expect(stdout).toMatch(new RegExp(`${name} .*030-${name}`, 'u'));
    });
    await untilWell(world, 1);
    expect(await uninstalls(world)).toEqual([]);
  });
});
