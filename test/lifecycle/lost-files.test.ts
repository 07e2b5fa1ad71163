import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { QUIET_MS } from '../../src/operator/watch-files.ts';
import { LOOK_INTERVAL_MS } from '../../src/reconcile/directory-looks.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, type FileTree, shHook, under, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const STALLED = { type: 'Stalled', status: 'True', reason: 'DirectoryGone' };

/** Repairs what was damaged. */
type Repair = () => Promise<void>;

/** A store with a directory for each module, to which links of the modules directory lead, as a puller of modules makes it. */
function linkedModules(names: readonly string[]): FileTree {
  const entries = names.flatMap((name, index): [string, string | { readonly link: string }][] => [
    [`modules/00${index + 1}-${name}`, { link: `../store/${name}` }],
    ...Object.entries(moduleFiles(name)).map(([file, content]): [string, string] => [
      `store/${name}/${file}`,
      content,
    ]),
  ]);
  return Object.fromEntries(entries);
}

function moduleFiles(name: string): Readonly<Record<string, string>> {
  const chart = configMapChart(name, name) as Readonly<Record<string, string>>;
  const hook = shHook(
    'kubernetes:\n- {kind: ConfigMap, name: config, nameSelector: {matchNames: [any]}}',
    'true',
  );
  return { ...chart, 'values.yaml': `${name}Enabled: true\n`, 'hooks/watch.sh': hook };
}

const aside = (path: string): string => join(path, '../..', `aside-${path.split('/').slice(-2).join('-')}`);

async function moveAside(path: string): Promise<Repair> {
  await rename(path, aside(path));
  return () => rename(aside(path), path);
}

/** Each damages the files of one module below the directory of a world. */
const DAMAGES: Readonly<Record<string, (world: string, entry: string, name: string) => Promise<Repair>>> = {
  'a link that leads nowhere': (world, _entry, name) => moveAside(join(world, 'store', name)),
  'a link to itself': async (world, entry) => {
    const link = join(world, 'modules', entry);
    await rm(link);
    await symlink(entry, link);
    return async () => {
      await rm(link);
      await symlink(`../store/${entry.slice(4)}`, link);
    };
  },
  'a file in place of the directory': async (world, _entry, name) => {
    const path = join(world, 'store', name);
    const repair = await moveAside(path);
    await writeFile(path, '');
    return async () => {
      await rm(path);
      await repair();
    };
  },
  'an empty directory': async (world, _entry, name) => {
    const path = join(world, 'store', name);
    const repair = await moveAside(path);
    await mkdir(path);
    return async () => {
      await rm(path, { recursive: true });
      await repair();
    };
  },
  'a directory without any file of a module': async (world, _entry, name) => {
    const path = join(world, 'store', name);
    const repair = await moveAside(path);
    await mkdir(join(path, 'lost+found'), { recursive: true });
    return async () => {
      await rm(path, { recursive: true });
      await repair();
    };
  },
  'no values.yaml': (world, _entry, name) => moveAside(join(world, 'store', name, 'values.yaml')),
  'no Chart.yaml': (world, _entry, name) => moveAside(join(world, 'store', name, 'Chart.yaml')),
  'no templates': (world, _entry, name) => moveAside(join(world, 'store', name, 'templates')),
  'a values.yaml that was cut to nothing': async (world, _entry, name) => {
    const path = join(world, 'store', name, 'values.yaml');
    const content = await readFile(path);
    await writeFile(path, '');
    return () => writeFile(path, content);
  },
  'a values.yaml that leads nowhere': async (world, _entry, name) => {
    const path = join(world, 'store', name, 'values.yaml');
    const content = await readFile(path);
    await rm(path);
    await symlink('nowhere', path);
    return async () => {
      await rm(path);
      await writeFile(path, content);
    };
  },
};

const WHEN = ['before a start', 'while it runs', 'while it runs and watches files'] as const;

async function linkedWorld(
  backend: Parameters<typeof moduleWorld>[0],
  names: readonly string[],
  flags: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & { readonly world: World }> {
  const made = await moduleWorld(backend, { flags }, names);
  await writeTree(made.world.directory, linkedModules(names));
  return made;
}

/** Lets the time pass in which lost and repaired files are noticed: less than 15 s. */
async function untilLooked(world: World, done: () => Promise<void>): Promise<void> {
  await vi.waitFor(async () => {
    world.clock.wakeSleeps(LOOK_INTERVAL_MS);
    await done();
  }, WAIT);
}

async function expectNothingToConfirm(world: World, name: string, context: string): Promise<void> {
  const { exitCode, stderr } = await runInWorld(world, 'module', 'confirm-files', name);
  expect({ context, exitCode }).toEqual({ context, exitCode: 1 });
  expect(stderr).toMatch(/can be confirmed: .*restore .*to remove the module, delete/);
}

describeLifecycle((backend) => {
  test.each(WHEN)('modules whose files are lost %s are held, then taken up again', async (when) => {
    const names = [uniqueName(), uniqueName(), uniqueName(), uniqueName()];
    const flags = { 'watch-files': String(when.endsWith('watches files')) };
    await using made = await linkedWorld(backend(), names, flags);
    const { world } = made;
    await world.converge();
    for (const name of names) await untilStatus(world, name, { phase: 'Succeeded' });
    for (const [damage, apply] of Object.entries(DAMAGES))
      for (const count of [1, 4]) {
        const context = `${count} of 4 with ${damage}`;
        const lost = names.slice(0, count);
        if (when === 'before a start') await world.stop();
        const repairs: Repair[] = [];
        for (const [index, name] of lost.entries())
          repairs.push(await apply(world.directory, `00${index + 1}-${name}`, name));
        if (when === 'before a start') await world.converge();
        await untilLooked(world, async () => {
          const { exitCode, stdout } = await runInWorld(world, 'status');
          for (const name of lost)
            expect(`${context}: ${stdout}`).toMatch(new RegExp(`module ${name} is held: .*${name}.*restore`));
          expect({ context, exitCode }).toEqual({ context, exitCode: 1 });
        });
        const conditions = expect.arrayContaining([expect.objectContaining(STALLED)]);
        for (const name of lost) await untilStatus(world, name, { conditions });
        for (const name of names)
          expect({ context, object: await world.get('configmaps', name) }).toHaveProperty('object.data');
        // Of a directory there are no files to confirm; of single ones, see the histories of files.
        if (damage.includes('director') || damage.includes('link'))
          await expectNothingToConfirm(world, names[0] ?? '', context);
        for (const repair of repairs) await repair();
        await untilLooked(world, async () => {
          const { stdout } = await runInWorld(world, 'status');
          expect(`${context}: ${stdout}`).toContain('all is well: 4 modules ready, nothing to do');
        });
        for (const name of names) await untilStatus(world, name, { phase: 'Succeeded' });
      }
    for (const name of names) expect(await world.get('configmaps', name)).toBeDefined();
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
  });
});

describeLifecycle((backend) => {
  test.each(['values.yaml', 'Chart.yaml'])(
    'a module that was deployed and never succeeded is held when its %s is lost',
    async (file) => {
      const name = uniqueName();
      await using made = await linkedWorld(backend(), [name], {});
      const { world } = made;
      const failing = shHook('afterHelm: 1', 'echo tried; exit 1');
      await writeTree(join(world.directory, 'store', name), { 'hooks/after.sh': failing });
      await world.start();
      await world.log.until(() => world.log.printed.includes('tried'));
      await world.stop();
      await rm(join(world.directory, 'store', name, file));
      await world.start();
      await untilLooked(world, async () => {
        const { stdout } = await runInWorld(world, 'status');
        expect(stdout).toMatch(new RegExp(`module ${name} is held: .*${file}.*restore`));
      });
      expect(await world.get('configmaps', name)).toBeDefined();
      expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
    },
  );
});

describeLifecycle((backend) => {
  test('a module whose files come back in steps, and are lost again in between, is held', async () => {
    const name = uniqueName();
    await using made = await linkedWorld(backend(), [name], { 'watch-files': 'true' });
    const { world } = made;
    const module = join(world.directory, 'store', name);
    await writeTree(module, { 'templates/second.yaml': '# the last file that comes back' });
    await world.converge();
    await world.log.untilMessage('watching files for changes');
    await untilStatus(world, name, { phase: 'Succeeded' });
    const repair = await moveAside(join(module, 'templates/second.yaml'));
    await world.log.untilMessage('saved files are used');
    await untilLooked(world, () => expectStatus(world, 'all is well: 1 module ready, nothing to do'));
    // Both before the next look: no run has begun with the complete files.
    await rm(join(module, 'values.yaml'));
    await repair();
    await untilLooked(world, () => expectStatus(world, `module ${name} is held`));
    expect(await world.get('configmaps', name)).toBeDefined();
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
  });
});

describeLifecycle((backend) => {
  test('a module whose entry is removed while files are watched is deleted, and the others stay', async () => {
    const names = [uniqueName(), uniqueName()];
    await using made = await linkedWorld(backend(), names, { 'watch-files': 'true' });
    const { world } = made;
    await world.converge();
    await world.log.untilMessage('watching files for changes');
    await rm(join(world.directory, 'modules', `001-${names[0]}`));
    await untilLooked(world, async () => {
      world.clock.wakeSleeps(QUIET_MS);
      expect(await world.get('configmaps', names[0] ?? '')).toBeUndefined();
      await expectStatus(world, 'all is well: 1 module ready, nothing to do');
    });
    expect(await world.get('configmaps', names[1] ?? '')).toBeDefined();
  });
});

/** Each damages a modules directory as a whole. */
const TREE_DAMAGES: Readonly<Record<string, (world: string) => Promise<Repair>>> = {
  'its values.yaml is lost': async (world) => {
    const [path, lost] = [join(world, 'modules/values.yaml'), join(world, 'lost.yaml')];
    await rename(path, lost);
    return () => rename(lost, path);
  },
  'it does not exist': async (world) => {
    const [path, lost] = [join(world, 'modules'), join(world, 'lost')];
    await rename(path, lost);
    return () => rename(lost, path);
  },
  'it is empty': async (world) => {
    const [path, lost] = [join(world, 'modules'), join(world, 'lost')];
    await rename(path, lost);
    await mkdir(path);
    return async () => {
      await rm(path, { recursive: true });
      await rename(lost, path);
    };
  },
};

describeApiIndependent((backend) => {
  test.each([
    ['before a start', 'its values.yaml is lost'],
    ['before a start', 'it is empty'],
    ['while it runs', 'its values.yaml is lost'],
    ['while it runs', 'it does not exist'],
    ['while it runs', 'it is empty'],
  ])('all modules of a modules directory are held when %s %s, then taken up again', async (when, damage) => {
    const names = [uniqueName(), uniqueName()];
    const files = names.flatMap((name) =>
      Object.entries(
        under(`001-${name}`, {
          ...configMapChart(name, name),
          enabled: '#!/bin/sh\necho true > "$MODULE_ENABLED_RESULT"\n',
        }),
      ),
    );
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': names.map((name) => `${name}Enabled: true\n`).join(''),
        ...Object.fromEntries(files),
      },
    });
    await world.converge();
    await untilLooked(world, () => expectStatus(world, WELL));
    await vi.waitFor(async () => {
      const memory = JSON.stringify(await world.get('configmaps', 'addon-operator-modules'));
      for (const name of names) expect(memory).toContain(name);
    }, WAIT);
    if (when === 'before a start') await world.stop();
    const repair = await TREE_DAMAGES[damage]?.(world.directory);
    if (when === 'before a start') await world.converge();
    await untilLooked(world, async () => {
      for (const name of names) await expectStatus(world, `module ${name} is held`);
      expect(world.daemon.operator.router.main.entries).toEqual([]);
    });
    // A converge in the meantime needs nothing that is lost.
    await world.putConfig({ global: 'a: 1\n' });
    for (let look = 0; look < 5; look += 1) await untilLooked(world, () => expectStatus(world, 'is held'));
    await repair?.();
    await untilLooked(world, () => expectStatus(world, WELL));
    for (const name of names) expect(await world.get('configmaps', name)).toBeDefined();
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
  });
});

const WELL = 'all is well: 2 modules ready, nothing to do';

async function expectStatus(world: World, text: string): Promise<void> {
  expect((await runInWorld(world, 'status')).stdout).toContain(text);
}
