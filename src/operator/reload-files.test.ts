import { expect, test } from 'vitest';
import { failing, hookFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { startUp } from './lifecycle.ts';

async function reload(lab: OperatorLab): Promise<void> {
  lab.takeCalls();
  lab.main.prepend({ type: 'ReloadFiles', saved: [], trigger: 'test' });
  await lab.settle();
}

test('new and changed global hooks start, those that are gone stop, the others go on', async () => {
  await using lab = await operatorLab([], {
    'global/same.sh': { onStartup: 1 },
    'global/changed.sh': { onStartup: 1, kubernetes: [{ kind: 'Pod', name: 'pods' }] },
    'global/gone.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] },
  });
  startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
  await lab.settle();
  lab.replaceHooks([
    await hookFor('global/same.sh', { onStartup: 1 }),
    await hookFor('global/changed.sh', { onStartup: 2, afterAll: 1 }),
    await hookFor('global/new.sh', { onStartup: 1, kubernetes: [{ kind: 'Node', name: 'nodes' }] }),
  ]);
  await reload(lab);
  expect(lab.calls).toEqual([
    'global/new.sh onStartup',
    'global/changed.sh onStartup',
    'monitor global/new.sh/nodes',
    'global/new.sh Synchronization:nodes',
    'discover',
    'global/changed.sh afterAll',
  ]);
  expect(lab.operator.globalHooks.runtimes.map(({ hook }) => hook.name)).toEqual([
    'changed.sh',
    'new.sh',
    'same.sh',
  ]);
  expect(lab.monitors.get('global/gone.sh/pods')?.isStopped).toBe(true);
});

test('a run of a global hook that is replaced ends before the new one starts', async () => {
  const kubernetes = [{ kind: 'Pod', name: 'pods', queue: 'slow' }];
  await using lab = await operatorLab([], { 'global/a.sh': { kubernetes } });
  startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
  await lab.settle();
  lab.behaviours.set('global/a.sh', () => new Promise(() => undefined));
  lab.emit('global/a.sh/pods');
  await lab.settle();
  lab.behaviours.clear();
  lab.replaceHooks([await hookFor('global/a.sh', { onStartup: 1, kubernetes })]);
  await reload(lab);
  expect(lab.calls).toEqual([
    'global/a.sh onStartup',
    'monitor global/a.sh/pods',
    'global/a.sh Synchronization:pods',
    'discover',
  ]);
});

test('new global hooks start before a converge that is started over', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  lab.replaceHooks([await hookFor('global/new.sh', { onStartup: 1, beforeAll: 1 })]);
  lab.main.cutDelay();
  await reload(lab);
  expect(lab.calls.filter((call) => !call.startsWith('config'))).toEqual([
    'global/new.sh onStartup',
    'global/new.sh beforeAll',
    'discover',
    'deploy web',
  ]);
});

test('files that change during the start do not let the converge overtake the global hooks', async () => {
  await using lab = await operatorLab([], { 'global/a.sh': { onStartup: 1, beforeAll: 1 } });
  lab.main.prepend({ type: 'ReloadFiles', saved: [], trigger: 'test' });
  startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
  await lab.settle();
  expect(lab.calls).toEqual(['global/a.sh onStartup', 'global/a.sh beforeAll', 'discover']);
});

test('a module with other hooks starts anew, one with the same hooks only runs', async () => {
  const same = { onStartup: 1, kubernetes: [{ kind: 'Pod', name: 'pods' }] };
  await using lab = await operatorLab(['same', 'other'], { 'same/a.sh': same, 'other/a.sh': same });
  await lab.converge();
  lab.replaceHooks([await hookFor('same/a.sh', same), await hookFor('other/a.sh', { onStartup: 2 })]);
  await reload(lab);
  expect(lab.calls).toEqual([
    'config same',
    'config other',
    'discover',
    'deploy same',
    'config other',
    'other/a.sh onStartup',
    'deploy other',
  ]);
  expect(lab.monitors.get('other/a.sh/pods')?.isStopped).toBe(true);
});

test('what cannot be loaded is reported and stays as it was', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  await lab.converge();
  lab.obstacles.set('config web', failing as () => void);
  await reload(lab);
  expect(lab.calls).toEqual(['config web', 'discover', 'web/a.sh beforeHelm', 'deploy web']);
  expect(lab.operator.registry.tracked.get(name('web'))?.phase).toBe('ready');
  expect(lab.log.records).toContainEqual(
    expect.objectContaining({
      level: 'error',
      msg: 'cannot load changed files, the hooks of module web are not changed',
    }),
  );
});

test('a converge after files that cannot be loaded says so, until they can be', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  await lab.converge();
  lab.obstacles.set('reload modules', failing as () => void);
  await reload(lab);
  expect(lab.calls).toContain('deploy web');
  const warnings = () => lab.log.records.filter(({ level }) => level === 'warn');
  expect(warnings()).toMatchObject([
    { unloaded: ['modules'], msg: expect.stringMatching(/^converged, but not/) },
  ]);
  lab.obstacles.delete('reload modules');
  await reload(lab);
  expect(warnings()).toHaveLength(1);
});

test('changed hooks of an isolated module that waits for a Synchronization let it start anew', async () => {
  const kubernetes = [{ kind: 'Pod', name: 'pods', queue: 'own' }];
  const hooks = { 'web/watch.sh': { kubernetes }, 'web/life.sh': { beforeHelm: 1 } };
  await using lab = await operatorLab(['web'], hooks, { failurePolicy: 'isolate' });
  lab.behaviours.set('web/watch.sh', failing);
  await lab.converge();
  expect(lab.tasks('isolated_web')).toEqual(['ModuleRun:web:doStartup:start']);
  lab.behaviours.clear();
  lab.replaceHooks([
    await hookFor('web/watch.sh', { beforeHelm: 2 }),
    await hookFor('web/life.sh', { beforeHelm: 1 }),
  ]);
  await reload(lab);
  expect(lab.calls.at(-1)).toBe('deploy web');
  expect(lab.operator.queues.all.flatMap(({ name: queue }) => lab.tasks(queue))).toEqual([]);
});

test('a release whose module is back waits for no decision any more, those of others do', async () => {
  await using lab = await operatorLab(['web'], {});
  await lab.converge();
  lab.operator.converge.decidePurge({ releases: ['db', 'web'], reason: 'the directories are gone' });
  await reload(lab);
  expect(lab.operator.converge.purge).toMatchObject({ releases: ['db'] });
});
