import { expect, test } from 'vitest';
import { failing, moduleFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';

const HOOKS = {
  'web/a.sh': {
    onStartup: 1,
    beforeDeleteHelm: 1,
    afterDeleteHelm: 2,
    schedule: [{ crontab: '* * * * *' }],
    kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }],
  },
  'web/b.sh': { afterDeleteHelm: 1 },
};

async function disable(lab: OperatorLab, module: string): Promise<void> {
  lab.enabled.delete(module);
  lab.operator.router.queueConverge('ReloadAllModules', 'test');
  await lab.settle();
}

test('a disabled module loses its release, then its afterDeleteHelm hooks run, then it is gone', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.values.applyPatch(name('web'), [{ op: 'add', path: '/web/patched', value: 1 }]);
  const monitor = lab.monitors.get('web/a.sh/pods');
  const runtime = lab.runtimeOf('web/a.sh');
  lab.takeCalls();
  await disable(lab, 'web');
  expect(lab.calls).toEqual([
    'discover',
    'web/a.sh beforeDeleteHelm',
    'uninstall web',
    'web/b.sh afterDeleteHelm',
    'web/a.sh afterDeleteHelm',
  ]);
  expect(monitor?.isStopped).toBe(true);
  expect(runtime).toMatchObject({ isStopped: true, areSchedulesEnabled: false });
  expect(lab.operator.registry.tracked.size).toBe(0);
  expect(lab.values.moduleValues(name('web'))).toEqual({});
});

test('without a release beforeDeleteHelm hooks do not run, afterDeleteHelm hooks do', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.releases.clear();
  lab.takeCalls();
  await disable(lab, 'web');
  expect(lab.calls).toEqual(['discover', 'web/b.sh afterDeleteHelm', 'web/a.sh afterDeleteHelm']);
});

test('a module without a chart runs its afterDeleteHelm hooks', async () => {
  await using lab = await operatorLab([moduleFor('web', 1, { chart: 'none' })], HOOKS);
  await lab.converge();
  lab.takeCalls();
  await disable(lab, 'web');
  expect(lab.calls).toEqual(['discover', 'web/b.sh afterDeleteHelm', 'web/a.sh afterDeleteHelm']);
});

test('a failing beforeDeleteHelm hook keeps the release until a retry succeeds', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  lab.takeCalls();
  await disable(lab, 'web');
  expect(lab.calls).toEqual(['discover', 'web/a.sh beforeDeleteHelm']);
  expect(lab.releases.has('web')).toBe(true);
  lab.behaviours.clear();
  lab.takeCalls();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual([
    'web/a.sh beforeDeleteHelm',
    'uninstall web',
    'web/b.sh afterDeleteHelm',
    'web/a.sh afterDeleteHelm',
  ]);
});

test('after a failing afterDeleteHelm hook only those hooks are repeated', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.behaviours.set('web/b.sh', failing);
  await disable(lab, 'web');
  expect(lab.monitors.get('web/a.sh/pods')?.isStopped).toBe(false);
  lab.behaviours.clear();
  lab.takeCalls();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual(['web/b.sh afterDeleteHelm', 'web/a.sh afterDeleteHelm']);
});

test('an API server that does not respond is no proof that there is no release', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.obstacles.set('exists web', failing as () => void);
  lab.takeCalls();
  await disable(lab, 'web');
  expect(lab.calls).toEqual(['discover']);
  expect(lab.main.entries[0]).toMatchObject({ failures: 1 });
});

test('only the waiting tasks of the module are dropped from queues it shares', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['web', 'other'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
    'other/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  lab.behaviours.set('other/a.sh', () => gate.promise);
  lab.takeCalls();
  lab.emit('other/a.sh/pods');
  await lab.settle();
  lab.emit('web/a.sh/pods');
  lab.emit('other/a.sh/pods');
  await disable(lab, 'web');
  expect(lab.tasks('own')).toHaveLength(2);
  gate.resolve();
  await lab.settle();
  expect(lab.calls.filter((call) => call.includes('Event'))).toEqual([
    'other/a.sh Event:pods',
    'other/a.sh Event:pods',
  ]);
});

test('what a hook in another queue wrote counts no more once its module is gone', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  lab.behaviours.set('web/a.sh', async ({ write }) => {
    await gate.promise;
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/late', value: 1 });
    write('KUBERNETES_PATCH_PATH', { operation: 'Delete', kind: 'Pod', name: 'p', namespace: 'n' });
  });
  lab.emit('web/a.sh/pods');
  await disable(lab, 'web');
  gate.resolve();
  await lab.settle();
  expect(lab.calls).not.toContain('patch Delete');
  expect(lab.values.moduleValues(name('web'))).toEqual({});
  expect(lab.tasks('own')).toEqual([]);
});

test('a hook that fails while its module is deleted is not run again', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  lab.emit('web/a.sh/pods');
  await lab.settle();
  await disable(lab, 'web');
  lab.enabled.add('web');
  lab.behaviours.clear();
  lab.operator.router.queueConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.calls.slice(-2)).toEqual(['web/a.sh Synchronization:pods', 'deploy web']);
  lab.takeCalls();
  await lab.clock.advance(60_000);
  await lab.settle();
  expect(lab.calls).toEqual([]);
  expect(lab.tasks('own')).toEqual([]);
});

test('a module enabled again starts from the beginning', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  const first = lab.takeCalls();
  await disable(lab, 'web');
  lab.takeCalls();
  lab.enabled.add('web');
  lab.operator.router.queueConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.calls).toEqual(first);
});

test('a module enabled again before its deletion ended starts from the beginning, too', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.behaviours.set('web/b.sh', failing);
  await disable(lab, 'web');
  lab.behaviours.clear();
  lab.takeCalls();
  lab.enabled.add('web');
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.calls).toEqual([
    'discover',
    'web/a.sh onStartup',
    'web/a.sh Synchronization:pods',
    'deploy web',
  ]);
});

test('a hook whose operations end after its module was deleted leaves no values behind', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'pods' }] },
  });
  await lab.converge();
  lab.obstacles.set('patch Delete', () => gate.promise);
  lab.behaviours.set('web/a.sh', ({ write }) => {
    write('KUBERNETES_PATCH_PATH', { operation: 'Delete', kind: 'Pod', namespace: 'a', name: 'b' });
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/x', value: 1 });
  });
  lab.emit('web/a.sh/pods');
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('patch Delete');
  await disable(lab, 'web');
  expect(lab.operator.registry.tracked.size).toBe(0);
  gate.resolve();
  await lab.settle();
  expect(lab.tasks('pods')).toEqual([]);
  expect(lab.values.moduleValues(name('web'))).toEqual({});
});
