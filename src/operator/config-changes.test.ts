import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { failing, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { configDifference, parseConfigMapData } from '../values/config-map-content.ts';
import { onConfigChange } from './config-changes.ts';

/** The ConfigMap says something else now. */
async function change(lab: OperatorLab, data: Readonly<Record<string, string>>): Promise<void> {
  const content = parseConfigMapData(data);
  const difference = configDifference(lab.content, content);
  lab.content = content;
  onConfigChange(lab.operator, { type: 'changed', content, difference });
  await lab.settle();
}

async function started(modules: readonly string[] = ['a', 'b', 'c']): Promise<OperatorLab> {
  const lab = await operatorLab(modules, { 'global/x.sh': { beforeAll: 1 } });
  await lab.converge();
  lab.takeCalls();
  return lab;
}

const CONVERGE = ['global/x.sh beforeAll', 'discover'];

test.each([
  ['global added', { global: 'x: 1' }, [...CONVERGE, 'deploy a', 'deploy b', 'deploy c']],
  ['a flag changed', { aEnabled: 'true' }, [...CONVERGE, 'deploy a', 'deploy b', 'deploy c']],
  ['a section added', { b: 'x: 1' }, ['deploy b {"x":1}']],
  ['sections added, in run order', { c: 'x: 1', a: 'x: 2' }, ['deploy a {"x":2}', 'deploy c {"x":1}']],
  ['maintenance', { bMaintenance: 'NoResourceReconciliation' }, ['deploy b']],
  ['an unknown module', { other: 'x: 1' }, []],
])('%s', async (_what, data, calls) => {
  await using lab = await started();
  await change(lab, data);
  expect(lab.calls).toEqual(calls);
  expect(lab.main.length).toBe(0);
});

test('a section that is removed falls back to static values, global likewise', async () => {
  await using lab = await started(['a']);
  await change(lab, { global: 'x: 1', a: 'y: 1' });
  expect(lab.values.moduleValues(name('a'))).toEqual({ y: 1 });
  lab.takeCalls();
  await change(lab, { global: 'x: 1' });
  expect(lab.calls).toEqual(['deploy a']);
  expect(lab.values.moduleValues(name('a'))).toEqual({});
  await change(lab, {});
  expect(lab.values.globalValues()).toEqual({});
  expect(lab.calls.slice(1)).toEqual([...CONVERGE, 'deploy a']);
});

test('a section of a disabled module waits until the module is enabled', async () => {
  await using lab = await operatorLab(['a']);
  lab.enabled.clear();
  await lab.converge();
  lab.takeCalls();
  await change(lab, { a: 'x: 1' });
  expect(lab.calls).toEqual([]);
  lab.enabled.add('a');
  await change(lab, { a: 'x: 1', aEnabled: 'true' });
  expect(lab.calls).toEqual(['discover', 'config a', 'deploy a {"x":1}']);
});

test('a section of an unknown module is reported', async () => {
  await using lab = await started();
  await change(lab, { other: 'x: 1' });
  expect(lab.log.records).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      keys: ['other'],
      msg: 'KubeConfigManager has values for unknown modules',
    }),
  );
});

test('before the first discovery only the values are taken over, in front of everything', async () => {
  await using lab = await operatorLab(['a'], { 'global/x.sh': { onStartup: 1 } });
  lab.main.append({ type: 'ConvergeModules', event: 'OperatorStartup', trigger: 'start' });
  lab.obstacles.set('discover', failing as () => void);
  lab.start();
  await lab.settle();
  lab.obstacles.clear();
  await change(lab, { global: 'x: 1', a: 'y: 1', aEnabled: 'true' });
  expect(lab.calls).toEqual(['discover', 'discover', 'config a', 'deploy a {"y":1}']);
  expect(lab.clock.steadyMs()).toBe(0);
});

test.each([
  ['a section', { a: 'x: 1' }],
  ['the global section', { global: 'x: 1' }],
])('a change of %s takes effect, whenever it comes during the first converge', async (_what, data) => {
  for (let ticks = 0; ticks < 200; ticks += 1) {
    await using lab = await operatorLab(['a']);
    lab.main.append({ type: 'ConvergeModules', event: 'OperatorStartup', trigger: 'start' });
    lab.start();
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    // For each deployment whether it has the new values; those before the change have not.
    const isNew = (): boolean =>
      'x' in { ...lab.values.globalValues(), ...lab.values.moduleValues(name('a')) };
    const deployed = lab
      .takeCalls()
      .filter((call) => call.startsWith('deploy'))
      .map(() => false);
    lab.obstacles.set('deploy a', () => void deployed.push(isNew()));
    await change(lab, data);
    expect(lab.operator.converge.first, `after ${ticks} ticks`).toBe('done');
    expect(deployed.at(-1), `after ${ticks} ticks: ${deployed.join(' ')}`).toBe(true);
  }
});

test('a global change during a converge starts it over, with the new values', async () => {
  await using lab = await started();
  const gate = Promise.withResolvers<void>();
  lab.obstacles.set('deploy a', () => gate.promise);
  lab.operator.router.queueConverge('GlobalValuesChanged', 'test');
  await lab.settle();
  await change(lab, { global: 'x: 1' });
  lab.obstacles.clear();
  gate.resolve();
  await lab.settle();
  expect(lab.calls).toEqual([...CONVERGE, 'deploy a', ...CONVERGE, 'deploy a', 'deploy b', 'deploy c']);
});

test('a correction takes effect at once although the failed module waits for its retry', async () => {
  await using lab = await started(['a', 'b']);
  lab.obstacles.set('deploy a', failing as () => void);
  lab.operator.router.queueModuleRun(name('a'), 'test');
  await lab.settle();
  lab.obstacles.clear();
  await change(lab, { a: 'x: 1' });
  expect(lab.calls).toEqual(['deploy a', 'deploy a {"x":1}']);
  expect(lab.clock.steadyMs()).toBe(0);
});

test('a failing module that is switched off no longer holds up the others', async () => {
  await using lab = await operatorLab(['a', 'b']);
  lab.obstacles.set('deploy a', failing as () => void);
  await lab.converge();
  lab.takeCalls();
  lab.enabled.delete('a');
  await change(lab, { aEnabled: 'false' });
  expect(lab.calls).toEqual(['discover', 'config b', 'deploy b']);
  expect(lab.operator.converge.first).toBe('done');
});

test('values that stored patches do not fit stay out until the ConfigMap is mended', async () => {
  await using lab = await started(['a']);
  await change(lab, { a: 'parent: {}' });
  lab.values.applyPatch(name('a'), [{ op: 'add', path: '/a/parent/x', value: 1 }]);
  lab.takeCalls();
  await change(lab, { a: 'y: 1' });
  expect(lab.main.entries[0]).toMatchObject({ failures: 1, task: { type: 'ApplyKubeConfigValues' } });
  expect(lab.values.moduleValues(name('a'))).toEqual({ parent: { x: 1 } });
  await change(lab, { a: '{parent: {}, y: 1}' });
  expect(lab.main.length).toBe(0);
  expect(lab.calls).toEqual(['deploy a {"parent":{"x":1},"y":1}']);
});

test('invalid content is reported, changes nothing, and its end is reported, too', async () => {
  await using lab = await started();
  onConfigChange(lab.operator, {
    type: 'invalid',
    error: new OperatorError('CONFIG_MAP_INVALID', 'bad yaml'),
  });
  onConfigChange(lab.operator, { type: 'valid' });
  await lab.settle();
  expect(lab.calls).toEqual([]);
  expect(lab.log.records.slice(-2)).toMatchObject([
    { level: 'error', error: 'bad yaml' },
    { level: 'info', msg: 'KubeConfig become valid' },
  ]);
  expect(lab.journal.marks.since(0).slice(-2)).toMatchObject([
    { kind: 'config', text: 'the ConfigMap is invalid' },
    { kind: 'config', text: 'the ConfigMap is valid again' },
  ]);
});
