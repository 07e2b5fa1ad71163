import { expect, test } from 'vitest';
import { failing, name, operatorLab } from '../../test/support/operator-lab.ts';

test('queueModuleRun() puts one run at the end of main, for enabled modules only', async () => {
  await using lab = await operatorLab(['web', 'db']);
  await lab.converge();
  lab.stop.abort();
  await lab.operator.queues.ended();
  lab.enabled.clear();
  for (const module of ['web', 'db', 'web', 'other'])
    lab.operator.router.queueModuleRun(name(module), 'test');
  expect(lab.tasks()).toEqual(['ModuleRun:web:test', 'ModuleRun:db:test']);
  expect(lab.log.records.at(-1)).toMatchObject({
    level: 'info',
    'task.flow': 'noop',
    module: 'web',
    msg: 'module values are changed, ModuleRun task already queued',
  });
});

test('restartConverge() drops what is left of a converge and begins at the head', async () => {
  await using lab = await operatorLab(['a', 'b', 'c'], { 'global/x.sh': { beforeAll: 1, afterAll: 1 } });
  lab.obstacles.set('deploy a', failing as () => void);
  await lab.converge();
  lab.operator.router.queueConverge('GlobalValuesChanged', 'later');
  lab.operator.router.queueModuleRun(name('c'), 'event');
  expect(lab.tasks()).toEqual([
    'ModuleRun:a:doStartup:start',
    'ModuleRun:b:doStartup:start',
    'ModuleRun:c:doStartup:start',
    'ConvergeModules:::start',
    'ConvergeModules:::later',
  ]);
  lab.stop.abort();
  lab.operator.router.restartConverge('ReloadAllModules', 'restart');
  expect(lab.operator.converge.phase).toBe('standby');
  expect(lab.tasks()).toEqual(['ConvergeModules:::restart', 'ConvergeModules:::later']);
});

test('restartConverge() keeps runs that are no part of the converge', async () => {
  await using lab = await operatorLab(['a']);
  await lab.converge();
  lab.stop.abort();
  await lab.operator.queues.ended();
  lab.operator.router.queueModuleRun(name('a'), 'event');
  lab.operator.router.queueConverge('GlobalValuesChanged', 'waiting');
  lab.operator.router.restartConverge('ReloadAllModules', 'restart');
  expect(lab.tasks()).toEqual(['ConvergeModules:::restart', 'ModuleRun:a:event']);
});

test('restartConverge() without one in progress goes to the end of main', async () => {
  await using lab = await operatorLab(['a']);
  await lab.converge();
  lab.stop.abort();
  await lab.operator.queues.ended();
  lab.operator.router.queueModuleRun(name('a'), 'event');
  lab.operator.router.restartConverge('ReloadAllModules', 'restart');
  expect(lab.tasks()).toEqual(['ModuleRun:a:event', 'ConvergeModules:::restart']);
});

test('restartConverge() ends the wait of a failed task', async () => {
  await using lab = await operatorLab(['a', 'b']);
  lab.obstacles.set('deploy a', failing as () => void);
  await lab.converge();
  lab.obstacles.clear();
  lab.takeCalls();
  lab.operator.router.restartConverge('ReloadAllModules', 'restart');
  await lab.settle();
  expect(lab.calls).toEqual(['discover', 'deploy a', 'config b', 'deploy b']);
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});

test('restartConverge() lets the running task finish and drops the tasks that it requests', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['a', 'b'], { 'a/x.sh': { afterHelm: 1 } });
  lab.obstacles.set('deploy a', () => gate.promise);
  lab.behaviours.set('a/x.sh', ({ write }) =>
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/a/x', value: 1 }),
  );
  await lab.converge();
  lab.operator.router.restartConverge('ReloadAllModules', 'restart');
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('deploy a');
  lab.takeCalls();
  gate.resolve();
  await lab.settle();
  expect(lab.calls).toEqual([
    'a/x.sh afterHelm',
    'discover',
    'deploy a {"x":1}',
    'a/x.sh afterHelm',
    'config b',
    'deploy b',
  ]);
});

test('ticks of crontabs are ignored until the first converge is over', async () => {
  await using lab = await operatorLab(['one', 'two'], {
    'one/a.sh': { schedule: [{ crontab: '* * * * *', queue: 'own' }] },
  });
  const held = Promise.withResolvers<void>();
  lab.obstacles.set('deploy two', () => held.promise);
  await lab.converge();
  expect(lab.runtimeOf('one/a.sh').areSchedulesEnabled).toBe(true);
  lab.tick('one/a.sh');
  expect(lab.tasks('own')).toEqual([]);
  held.resolve();
  await lab.settle();
  expect(lab.operator.converge.first).toBe('done');
  lab.tick('one/a.sh');
  expect(lab.tasks('own')).toHaveLength(1);
});

test('a crontab of a module that is disabled or gone is ignored', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { schedule: [{ crontab: '* * * * *', queue: 'own' }] },
  });
  await lab.converge();
  const runtime = lab.runtimeOf('web/a.sh');
  const tick = (): void => {
    for (const binding of runtime.hook.config.schedule) lab.operator.router.onScheduleTick(runtime, binding);
  };
  lab.stop.abort();
  await lab.operator.queues.ended();
  tick();
  expect(lab.tasks('own')).toHaveLength(1);
  lab.operator.registry.setDiscovery({ enabled: [], decisions: new Map() });
  tick();
  await runtime.stop();
  tick();
  expect(lab.tasks('own')).toHaveLength(1);
});

test('restartConverge() loses no Synchronization that a module waits for', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] },
  });
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  expect(lab.tasks()[0]).toContain('Synchronization');
  lab.behaviours.clear();
  lab.operator.router.restartConverge('ReloadAllModules', 'restart');
  await lab.pass(30_000, 2);
  expect(lab.calls).toContain('deploy web');
  expect(lab.tasks()).toEqual([]);
});

test('a crontab of a hook whose schedules are not enabled is ignored', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { schedule: [{ crontab: '* * * * *', queue: 'own' }] },
  });
  await lab.converge();
  const runtime = lab.runtimeOf('web/a.sh');
  expect(lab.operator.router.takesTicks(runtime)).toBe(true);
  runtime.enableSchedules(false);
  expect(lab.operator.router.takesTicks(runtime)).toBe(false);
});

test('recheck() queues one run of a module, however often it is called', async () => {
  await using lab = await operatorLab(['web']);
  await lab.converge();
  lab.stop.abort();
  await lab.operator.queues.ended();
  for (let times = 0; times < 3; times += 1) lab.operator.router.recheck(name('web'), 'test');
  expect(lab.tasks()).toEqual(['ModuleRun:web:test']);
});

test('a module is changed since its last abort only when one was requested', async () => {
  await using lab = await operatorLab(['web']);
  const { changes } = lab.operator.router;
  const isChanged = () => changes.isChangedSinceAbort(name('web'));
  changes.note(name('web'));
  expect(isChanged()).toBe(false);
  changes.noteAbort(name('web'));
  expect(isChanged()).toBe(false);
  changes.note(name('web'));
  expect(isChanged()).toBe(true);
});
