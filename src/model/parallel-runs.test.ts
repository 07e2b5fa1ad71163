import { expect, test } from 'vitest';
import { failing, moduleFor, name, operatorLab } from '../../test/support/operator-lab.ts';

const MODULES = [moduleFor('a', 1), moduleFor('b', 1), moduleFor('c', 2)];
const HOOKS = { 'a/h.sh': { beforeHelm: 1 }, 'b/h.sh': { afterHelm: 1 } };
const PARALLEL = { runsModulesInParallel: true };

test('modules with one number run in queues of their own, and the next number waits for all of them', async () => {
  await using lab = await operatorLab(MODULES, HOOKS, PARALLEL);
  const { promise, resolve } = Promise.withResolvers<void>();
  lab.behaviours.set('a/h.sh', () => promise);
  const converged = lab.converge();
  await lab.settle();
  expect(lab.tasks('parallel_queue_0')).toHaveLength(1);
  expect(lab.calls).toContain('deploy b');
  expect(lab.calls).not.toContain('deploy c');
  expect(lab.operator.router.isModuleRunPending(name('c'))).toBe(true);
  resolve();
  await converged;
  await lab.settle();
  expect(lab.calls.filter((call) => call.startsWith('deploy'))).toEqual(['deploy b', 'deploy a', 'deploy c']);
});

test('a run that requests another one is over when that is over', async () => {
  await using lab = await operatorLab(MODULES, HOOKS, PARALLEL);
  lab.behaviours.set('b/h.sh', ({ write }) => {
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/b/x', value: 1 });
  });
  await lab.converge();
  await lab.settle();
  const deployed = lab.calls.filter((call) => call.startsWith('deploy'));
  expect(deployed.toSorted()).toEqual(['deploy a', 'deploy b', 'deploy b {"x":1}', 'deploy c']);
  expect(deployed.at(-1)).toBe('deploy c');
});

test('a converge that is started over drops what waits in parallel queues, and runs nothing twice at a time', async () => {
  await using lab = await operatorLab(MODULES, HOOKS, PARALLEL);
  const { promise, resolve } = Promise.withResolvers<void>();
  lab.behaviours.set('a/h.sh', () => promise);
  const converged = lab.converge();
  await lab.settle();
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.calls.filter((call) => call === 'a/h.sh beforeHelm')).toHaveLength(1);
  resolve();
  await converged;
  await lab.settle();
  expect(lab.calls.filter((call) => call === 'deploy a')).toHaveLength(2);
  expect(lab.operator.converge.first).toBe('done');
  expect(lab.operator.router.main.length).toBe(0);
});

test('with isolation a failing module of a parallel run holds up none of the others', async () => {
  await using lab = await operatorLab(MODULES, HOOKS, { ...PARALLEL, failurePolicy: 'isolate' });
  lab.behaviours.set('a/h.sh', failing);
  await lab.converge();
  await lab.settle();
  expect(lab.operator.converge.first).toBe('done');
  expect(lab.calls).toContain('deploy c');
  lab.behaviours.delete('a/h.sh');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('deploy a');
});
