import { expect, test } from 'vitest';
import { name, operatorLab } from '../../test/support/operator-lab.ts';
import { splitGlobalPatch } from '../values/enabled-patches.ts';

const FULL = { path: '/modules', modules: ['web'] };

test('the modules directories are remembered before the first run: the operator may be killed in it', async () => {
  await using lab = await operatorLab(['web']);
  lab.directories = [FULL];
  const remembered: unknown[] = [];
  lab.obstacles.set('deploy web', () => void remembered.push(lab.rememberedDirectories));
  await lab.converge();
  expect(remembered).toEqual([[FULL]]);
});

test.each([
  ['there is a record', [{ path: '/before', modules: ['web'] }], [FULL], []],
  ['there are releases, which may be of other modules', undefined, [FULL], ['web']],
  ['the directories are empty', undefined, [{ path: '/modules', modules: [] }], []],
])('nothing is remembered before the first run if %s', async (_case, record, directories, releases) => {
  await using lab = await operatorLab(['web']);
  lab.directories = directories;
  lab.rememberedDirectories = record;
  for (const release of releases) lab.releases.add(release);
  const remembered: unknown[] = [];
  lab.obstacles.set('deploy web', () => void remembered.push(lab.rememberedDirectories));
  await lab.converge();
  expect(remembered).toEqual([record]);
});

test('a flag that a hook sets counts, whenever it comes during the first converge', async () => {
  for (let ticks = 0; ticks < 200; ticks += 1) {
    await using lab = await operatorLab(['web']);
    lab.main.append({ type: 'ConvergeModules', event: 'OperatorStartup', trigger: 'start' });
    lab.start();
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    lab.enabled.delete('web');
    const { flags } = splitGlobalPatch([{ op: 'add', path: '/webEnabled', value: false }]);
    lab.dynamicFlags.apply(flags, 'hook');
    lab.startOver();
    await lab.settle();
    expect(lab.operator.registry.isEnabled(name('web')), `after ${ticks} ticks`).toBe(false);
  }
});
