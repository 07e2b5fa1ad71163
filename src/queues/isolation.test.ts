import { expect, test } from 'vitest';
import { failing, moduleFor, name, operatorLab } from '../../test/support/operator-lab.ts';
import { NO_MANIFEST } from '../modules/module-manifest.ts';
import { isolatedModules } from './isolation.ts';

const ISOLATE = { failurePolicy: 'isolate' } as const;

function requiring(text: string, order: number, ...required: readonly string[]) {
  const requires = required.map((other) => ({ name: name(other), version: undefined, isOptional: false }));
  return moduleFor(text, order, { manifest: { ...NO_MANIFEST, requires } });
}

const HOOKS = { 'db/a.sh': { beforeHelm: 1 }, 'web/a.sh': { beforeHelm: 1 } };

test('a failing run moves into a queue of its own, and runs that require the module wait behind it', async () => {
  await using lab = await operatorLab(['db', requiring('web', 2, 'db'), 'dns'], HOOKS, ISOLATE);
  lab.behaviours.set('db/a.sh', failing);
  await lab.converge();
  expect(lab.operator.converge.first).toBe('done');
  expect(lab.calls).toContain('deploy dns');
  expect(lab.calls).not.toContain('deploy web');
  expect(lab.operator.queues.get('isolated_db').entries).toMatchObject([
    { task: { type: 'ModuleRun', module: 'db' }, failures: 1 },
    { task: { type: 'ModuleRun', module: 'web' }, failures: 0 },
  ]);
  expect(isolatedModules(lab.operator)).toEqual(['db']);
  lab.behaviours.delete('db/a.sh');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls.filter((call) => call.startsWith('deploy'))).toEqual([
    'deploy dns',
    'deploy db',
    'deploy web',
  ]);
  expect(isolatedModules(lab.operator)).toEqual([]);
});

test('a module is not run twice when it waits for a retry already, but the retry comes at once', async () => {
  await using lab = await operatorLab(['db'], HOOKS, ISOLATE);
  lab.behaviours.set('db/a.sh', failing);
  await lab.converge();
  lab.behaviours.delete('db/a.sh');
  lab.operator.router.queueModuleRun(name('db'), 'test');
  await lab.settle();
  expect(lab.calls.filter((call) => call === 'deploy db')).toEqual(['deploy db']);
  expect(lab.operator.queues.get('isolated_db').length).toBe(0);
});

test('a change of an isolated module is not left to a recheck that waits', async () => {
  const hooks = { 'db/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] } };
  await using lab = await operatorLab(['db'], hooks, ISOLATE);
  await lab.converge();
  lab.behaviours.set('db/a.sh', failing);
  lab.emit('db/a.sh/pods');
  await lab.settle();
  lab.operator.router.recheck(name('db'), 'test');
  await lab.settle();
  lab.operator.router.queueModuleRun(name('db'), 'test');
  // The change lets the module be tried at once, which fails again.
  await lab.settle();
  expect(lab.operator.queues.get('isolated_db').entries).toMatchObject([
    { task: { type: 'ModuleHookRun' } },
    { task: { type: 'ModuleRun', isRecheck: true } },
    { task: { type: 'ModuleRun', trigger: 'test' } },
  ]);
});

test('a module that requires two failing ones waits for both', async () => {
  const modules = ['a', 'b', requiring('web', 3, 'a', 'b')];
  const hooks = { 'a/h.sh': { beforeHelm: 1 }, 'b/h.sh': { beforeHelm: 1 } };
  await using lab = await operatorLab(modules, hooks, ISOLATE);
  lab.behaviours.set('a/h.sh', failing);
  lab.behaviours.set('b/h.sh', failing);
  await lab.converge();
  lab.behaviours.delete('a/h.sh');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).not.toContain('deploy web');
  lab.behaviours.delete('b/h.sh');
  await lab.clock.advance(10_000);
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('deploy web');
});

test('a module that waits for a failing one can be deleted at once', async () => {
  await using lab = await operatorLab(['db', requiring('web', 2, 'db')], HOOKS, ISOLATE);
  await lab.converge();
  lab.behaviours.set('db/a.sh', failing);
  lab.operator.router.queueConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.operator.queues.get('isolated_db').length).toBe(2);
  lab.enabled.delete('web');
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect([...lab.releases]).toEqual(['db']);
  expect(lab.operator.queues.get('isolated_db').entries).toMatchObject([{ task: { module: 'db' } }]);
});

test('a deletion that fails holds up only the deletion of what it requires', async () => {
  const hooks = { 'web/h.sh': { afterDeleteHelm: 1 } };
  await using lab = await operatorLab(['db', requiring('web', 2, 'db'), 'dns'], hooks, ISOLATE);
  await lab.converge();
  lab.enabled.clear();
  lab.behaviours.set('web/h.sh', failing);
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect([...lab.releases]).toEqual(['db']);
  expect(lab.operator.queues.get('isolated_web').entries).toMatchObject([
    { task: { type: 'ModuleDelete', module: 'web' } },
    { task: { type: 'ModuleDelete', module: 'db' } },
  ]);
  lab.behaviours.delete('web/h.sh');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect([...lab.releases]).toEqual([]);
});

test('failing hooks for events follow their module out of main, in order', async () => {
  const hooks = {
    'db/h.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', executeHookOnSynchronization: false }] },
    'dns/h.sh': { beforeHelm: 1 },
  };
  await using lab = await operatorLab(['db', 'dns'], hooks, ISOLATE);
  await lab.converge();
  lab.behaviours.set('db/h.sh', failing);
  lab.takeCalls();
  lab.emit('db/h.sh/pods');
  lab.operator.router.queueModuleRun(name('db'), 'test');
  lab.operator.router.queueModuleRun(name('dns'), 'test');
  await lab.settle();
  expect(lab.calls).toContain('deploy dns');
  expect(lab.calls).not.toContain('deploy db');
  expect(lab.operator.queues.get('isolated_db').entries.map(({ task }) => task.type)).toEqual([
    'ModuleHookRun',
    'ModuleRun',
  ]);
});

test('with the policy block a failing module stays at the head of main', async () => {
  await using lab = await operatorLab(['db', 'dns'], HOOKS);
  lab.behaviours.set('db/a.sh', failing);
  await lab.converge();
  expect(lab.calls).not.toContain('deploy dns');
  expect(lab.operator.router.main.entries[0]).toMatchObject({ task: { module: 'db' }, failures: 1 });
  expect(isolatedModules(lab.operator)).toEqual([]);
});

test('a converge whose modules run in parallel goes on without one that is isolated already', async () => {
  const modules = [moduleFor('db', 1), moduleFor('dns', 1), moduleFor('web', 2)];
  await using lab = await operatorLab(modules, HOOKS, { ...ISOLATE, runsModulesInParallel: true });
  lab.behaviours.set('db/a.sh', failing);
  await lab.converge();
  expect(lab.tasks('isolated_db')).toHaveLength(1);
  lab.calls.length = 0;
  lab.operator.router.queueConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.calls.filter((call) => call.startsWith('deploy'))).toEqual(['deploy dns', 'deploy web']);
  expect(lab.tasks('main')).toEqual([]);
});

test('a module that fails after the one it required is over holds up neither others nor that one', async () => {
  const modules = ['db', requiring('web', 2, 'db'), requiring('dns', 3, 'db')];
  await using lab = await operatorLab(modules, HOOKS, ISOLATE);
  lab.behaviours.set('db/a.sh', failing);
  await lab.converge();
  lab.behaviours.delete('db/a.sh');
  lab.behaviours.set('web/a.sh', failing);
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls.filter((call) => call.startsWith('deploy'))).toEqual(['deploy db', 'deploy dns']);
  expect(isolatedModules(lab.operator)).toEqual(['web']);
  lab.behaviours.set('db/a.sh', failing);
  lab.operator.router.queueModuleRun(name('db'), 'test');
  await lab.settle();
  expect(isolatedModules(lab.operator)).toEqual(['db', 'web']);
  lab.behaviours.delete('db/a.sh');
  lab.takeCalls();
  await lab.clock.advance(30_000);
  await lab.settle();
  expect(lab.calls).toContain('deploy db');
  expect(isolatedModules(lab.operator)).toEqual(['web']);
});

test('an isolated module whose required one fails too waits for it, and its Synchronization in a queue of its own holds up no task', async () => {
  const hooks = {
    'db/a.sh': { beforeHelm: 1 },
    'web/s.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'side' }] },
  };
  const modules = ['db', requiring('web', 2, 'db'), requiring('dns', 3, 'db')];
  await using lab = await operatorLab(modules, hooks, ISOLATE);
  lab.behaviours.set('db/a.sh', failing);
  lab.behaviours.set('web/s.sh', failing);
  await lab.converge();
  lab.behaviours.delete('db/a.sh');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toContain('deploy dns');
  expect(isolatedModules(lab.operator)).toEqual(['web']);
  lab.behaviours.delete('web/s.sh');
  await lab.clock.advance(10_000);
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('deploy web');
  expect(isolatedModules(lab.operator)).toEqual([]);
});

test('converges while a module is isolated add no second deletion and no second look at its CRDs', async () => {
  await using lab = await operatorLab(['db'], { 'db/h.sh': { onStartup: 1, afterDeleteHelm: 1 } }, ISOLATE);
  lab.withCrds.add('db');
  lab.behaviours.set('db/h.sh', failing);
  await lab.converge();
  for (let times = 0; times < 3; times += 1) {
    lab.operator.router.restartConverge('ReloadAllModules', 'test');
    await lab.settle();
  }
  expect(lab.tasks('isolated_db')).toEqual(['ModuleRun:db:doStartup:start', 'ModuleEnsureCRDs:db:test']);
  lab.enabled.clear();
  for (let times = 0; times < 3; times += 1) {
    lab.operator.router.restartConverge('ReloadAllModules', 'test');
    await lab.settle();
  }
  expect(lab.tasks('isolated_db')).toEqual(['ModuleDelete:db:test']);
  lab.behaviours.delete('db/h.sh');
  lab.takeCalls();
  await lab.clock.advance(30_000);
  await lab.settle();
  expect(lab.calls.filter((call) => call.endsWith('afterDeleteHelm'))).toHaveLength(1);
});

test('events that come while a module is isolated do not let its queue grow without end', async () => {
  const binding = { kind: 'Pod', name: 'pods', executeHookOnSynchronization: false };
  await using lab = await operatorLab(['db'], { 'db/h.sh': { kubernetes: [binding] } }, ISOLATE);
  await lab.converge();
  lab.behaviours.set('db/h.sh', failing);
  for (let times = 0; times < 250; times += 1) {
    lab.emit('db/h.sh/pods');
    await lab.settle();
  }
  expect(lab.operator.queues.get('isolated_db').length).toBeLessThan(100);
});

test('a run that is isolated for one Synchronization runs behind the others that it waits for', async () => {
  const kubernetes = [
    { kind: 'Pod', name: 'main' },
    { kind: 'Pod', name: 'own', queue: 'own' },
  ];
  await using lab = await operatorLab(['a', 'b'], { 'a/watch.sh': { kubernetes } }, ISOLATE);
  lab.behaviours.set('a/watch.sh', failing);
  lab.start();
  lab.operator.router.queueConverge('OperatorStartup', 'start');
  await lab.pass(5_000, 1);
  expect(isolatedModules(lab.operator)).toEqual(['a']);
  lab.behaviours.clear();
  await lab.pass(40_000, 2);
  expect(lab.calls.filter((call) => call.startsWith('deploy')).toSorted()).toEqual(['deploy a', 'deploy b']);
  expect(isolatedModules(lab.operator)).toEqual([]);
});

test('a Synchronization that follows its isolated module comes before the run that may wait for it', async () => {
  const hooks = { 'db/a.sh': { beforeHelm: 1, kubernetes: [{ kind: 'Pod', name: 'pods' }] } };
  await using lab = await operatorLab(['db'], hooks, ISOLATE);
  lab.behaviours.set('db/a.sh', ({ contexts }) => {
    if (contexts[0]?.binding === 'beforeHelm') throw new Error('hook is broken');
  });
  await lab.converge();
  const runtime = lab.runtimeOf('db/a.sh');
  const [binding] = runtime.hook.config.kubernetes;
  if (binding === undefined) throw new Error('the hook has no binding');
  const { router } = lab.operator;
  router.main.append(router.synchronizationRun(runtime, binding, ''));
  await lab.settle();
  expect(lab.operator.queues.get('isolated_db').entries).toMatchObject([
    { task: { type: 'ModuleHookRun' } },
    { task: { type: 'ModuleRun' } },
  ]);
});
