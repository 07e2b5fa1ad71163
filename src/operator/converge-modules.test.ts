import { expect, test } from 'vitest';
import { failing, moduleFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { type DeletionPolicy, NO_MANIFEST } from '../modules/module-manifest.ts';
import { splitGlobalPatch } from '../values/enabled-patches.ts';
import { keyOfName } from '../values/module-key.ts';

const change = (path: string, value: unknown) => ({
  op: 'add',
  path,
  value,
});

async function restart(lab: OperatorLab): Promise<void> {
  lab.operator.router.queueConverge('GlobalValuesChanged', 'test');
  await lab.settle();
}

test('a converge runs beforeAll, discovery, deletions in reverse order, runs in order, afterAll', async () => {
  await using lab = await operatorLab(['a', 'b', 'c', 'd'], {
    'global/x.sh': { beforeAll: 2, afterAll: 1 },
    'global/y.sh': { beforeAll: 1, afterAll: 2 },
  });
  await lab.converge();
  lab.takeCalls();
  for (const module of ['b', 'd']) lab.enabled.delete(module);
  await restart(lab);
  expect(lab.calls).toEqual([
    'global/y.sh beforeAll',
    'global/x.sh beforeAll',
    'discover',
    'uninstall d',
    'uninstall b',
    'deploy a',
    'deploy c',
    'global/x.sh afterAll',
    'global/y.sh afterAll',
  ]);
});

test('an operator without modules and hooks converges', async () => {
  await using lab = await operatorLab([]);
  await lab.converge();
  await lab.operator.converge.firstDone;
  expect(lab.operator.converge.first).toBe('done');
});

test('a known module that is disabled at the start is deleted with its hooks if it has a release', async () => {
  await using lab = await operatorLab(['web', 'none'], {
    'web/a.sh': { onStartup: 1, beforeDeleteHelm: 1, afterDeleteHelm: 1 },
  });
  lab.enabled.clear();
  lab.releases.add('web');
  await lab.converge();
  expect(lab.calls).toEqual([
    'discover',
    'config web',
    'web/a.sh beforeDeleteHelm',
    'uninstall web',
    'web/a.sh afterDeleteHelm',
  ]);
});

test('a failed discovery is tried again every 5 s, always, without its beforeAll hooks', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': { beforeAll: 1 } });
  lab.obstacles.set('discover', failing as () => void);
  await lab.converge();
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    expect(lab.clock.pendingDelaysMs).toEqual([5_000]);
    await lab.clock.advance(5_000);
    await lab.settle();
  }
  lab.obstacles.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls.filter((call) => call === 'global/a.sh beforeAll')).toHaveLength(1);
  expect(lab.calls.filter((call) => call === 'discover')).toHaveLength(10);
  expect(lab.calls.at(-1)).toBe('deploy web');
  expect(await lab.operator.metrics.scrape()).toContain('addon_operator_modules_discover_errors_total 9');
});

test('while discovery fails, events of main wait and those of other queues run', async () => {
  await using lab = await operatorLab(['web'], {
    'web/main.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] },
    'web/own.sh': { kubernetes: [{ kind: 'Pod', name: 'own', queue: 'own' }] },
  });
  await lab.converge();
  lab.obstacles.set('discover', failing as () => void);
  await restart(lab);
  lab.takeCalls();
  lab.emit('web/main.sh/pods');
  lab.emit('web/own.sh/own');
  await lab.settle();
  expect(lab.calls).toEqual(['web/own.sh Event:own']);
  lab.obstacles.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls.slice(1)).toEqual(['discover', 'deploy web', 'web/main.sh Event:pods']);
});

test('new values that wait behind a restarted converge are applied before its modules run', async () => {
  await using lab = await operatorLab(['a']);
  const { router } = lab.operator;
  lab.obstacles.set('discover', async () => {
    lab.obstacles.delete('discover');
    // The values change, then files that are back restart the converge in front of them.
    router.main.prepend({ type: 'ApplyKubeConfigValues', changedKeys: [], trigger: 'test' });
    router.restartConverge('ReloadAllModules', 'test');
    await Promise.resolve();
  });
  await lab.converge();
  expect(lab.calls).toContain('deploy a');
  expect(router.main.entries).toEqual([]);
});

test('converges directly behind one that begins are merged into it', async () => {
  await using lab = await operatorLab(['web']);
  await lab.converge();
  lab.takeCalls();
  for (let count = 0; count < 3; count += 1) lab.operator.router.queueConverge('GlobalValuesChanged', 'test');
  await lab.settle();
  expect(lab.calls).toEqual(['discover', 'deploy web']);
});

test('afterAll hooks that leave other global values behind cause exactly one more converge', async () => {
  await using lab = await operatorLab([], { 'global/a.sh': { afterAll: 1 }, 'global/b.sh': { afterAll: 2 } });
  lab.behaviours.set('global/a.sh', ({ write }) => write('VALUES_JSON_PATCH_PATH', change('/global/x', 1)));
  await lab.converge();
  expect(lab.calls.filter((call) => call === 'discover')).toHaveLength(2);
});

test('a converge that goes on for what its own hooks changed is one converge, caused by what began it', async () => {
  await using lab = await operatorLab([], { 'global/a.sh': { afterAll: 1 } });
  lab.behaviours.set('global/a.sh', ({ write }) => write('VALUES_JSON_PATCH_PATH', change('/global/x', 1)));
  await lab.converge();
  expect(lab.calls.filter((call) => call === 'discover')).toHaveLength(2);
  const page = await lab.operator.metrics.scrape();
  expect(page.match(/addon_operator_convergence_total\{.*/g)).toEqual([
    'addon_operator_convergence_total{activation="OperatorStartup"} 1',
  ]);
});

test('afterAll hooks that restore the global values cause no converge', async () => {
  await using lab = await operatorLab([], { 'global/a.sh': { afterAll: 1 }, 'global/b.sh': { afterAll: 2 } });
  lab.behaviours.set('global/a.sh', ({ write }) => write('VALUES_JSON_PATCH_PATH', change('/global/x', 1)));
  lab.behaviours.set('global/b.sh', ({ write }) =>
    write('VALUES_JSON_PATCH_PATH', { op: 'remove', path: '/global/x' }),
  );
  await lab.converge();
  expect(lab.calls.filter((call) => call === 'discover')).toHaveLength(1);
});

test('beforeAll hooks see no converge for the values they change', async () => {
  await using lab = await operatorLab([], { 'global/a.sh': { beforeAll: 1 } });
  let count = 0;
  lab.behaviours.set('global/a.sh', ({ write }) => {
    count += 1;
    write('VALUES_JSON_PATCH_PATH', change('/global/x', count));
  });
  await lab.converge();
  expect(count).toBe(1);
});

test('a converge restarted during discovery discovers again and runs beforeAll hooks again', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['a', 'b'], { 'global/a.sh': { beforeAll: 1 } });
  await lab.converge();
  lab.takeCalls();
  lab.obstacles.set('discover', () => gate.promise);
  await restart(lab);
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  lab.obstacles.clear();
  gate.resolve();
  lab.enabled.delete('b');
  await lab.settle();
  expect(lab.calls).toEqual([
    'global/a.sh beforeAll',
    'discover',
    'global/a.sh beforeAll',
    'discover',
    'uninstall b',
    'deploy a',
  ]);
});

test('a module to be deleted is deleted although the converge is restarted before', async () => {
  await using lab = await operatorLab(['a', 'b'], { 'b/x.sh': { beforeDeleteHelm: 1 } });
  await lab.converge();
  lab.takeCalls();
  lab.enabled.delete('b');
  lab.behaviours.set('b/x.sh', failing);
  await restart(lab);
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  lab.behaviours.clear();
  await lab.settle();
  expect(lab.calls).toEqual([
    'discover',
    'b/x.sh beforeDeleteHelm',
    'discover',
    'b/x.sh beforeDeleteHelm',
    'uninstall b',
    'deploy a',
  ]);
});

test('a module enabled again before it was deleted hears its crontabs again', async () => {
  await using lab = await operatorLab(['a', 'b'], {
    'a/hook.sh': { beforeHelm: 1 },
    'b/x.sh': { schedule: [{ crontab: '* * * * *' }] },
  });
  await lab.converge();
  lab.enabled.delete('b');
  lab.obstacles.set('uninstall b', failing as () => void);
  await restart(lab);
  expect(lab.runtimeOf('b/x.sh').areSchedulesEnabled).toBe(false);
  lab.enabled.add('b');
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.operator.registry.tracked.get(name('b'))?.phase).toBe('ready');
  expect(lab.runtimeOf('b/x.sh').areSchedulesEnabled).toBe(true);
});

test('the first converge ends once, and queues the purge of unknown releases', async () => {
  await using lab = await operatorLab(['web']);
  lab.releases.add('zombie');
  lab.releases.add('ancient');
  lab.releases.add('operator');
  lab.foreignReleases.add('foreign');
  await lab.converge();
  expect(lab.calls.slice(-2)).toEqual(['uninstall zombie', 'uninstall ancient']);
  expect(lab.log.records).toContainEqual(expect.objectContaining({ level: 'warn', releases: ['foreign'] }));
  lab.takeCalls();
  lab.releases.add('later');
  await restart(lab);
  expect(lab.calls).toEqual(['discover', 'deploy web']);
  expect(await lab.operator.metrics.scrape()).toMatch(
    /addon_operator_convergence_total\{activation="OperatorStartup"\} 1\n/,
  );
});

test('a release that cannot be purged is reported and not tried again', async () => {
  await using lab = await operatorLab([]);
  lab.releases.add('zombie');
  lab.obstacles.set('uninstall zombie', failing as () => void);
  await lab.converge();
  expect(lab.main.length).toBe(0);
  expect(lab.log.records).toContainEqual(
    expect.objectContaining({ level: 'warn', release: 'zombie', msg: 'Module purge failed, no retry.' }),
  );
});

test('a release that was taken over before its purge is not reported as removed', async () => {
  await using lab = await operatorLab([]);
  lab.releases.add('zombie');
  lab.releases.add('taken');
  lab.obstacles.set('uninstall taken', () => void lab.foreignReleases.add('taken'));
  await lab.converge();
  const removed = lab.log.records.filter(({ msg }) => msg === 'Release without a module is removed');
  expect(removed).toEqual([expect.objectContaining({ release: 'zombie' })]);
});

test('flags that change during the first discovery are not lost', async () => {
  await using lab = await operatorLab(['a', 'b']);
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let discoveries = 0;
  lab.obstacles.set('discover', () => gates[discoveries++]?.promise);
  await lab.converge();
  lab.content = { ...lab.content, flags: new Map([[keyOfName('b'), false]]) };
  gates[0]?.resolve();
  await lab.settle();
  lab.dynamicFlags.apply(splitGlobalPatch([{ op: 'add', path: '/aEnabled', value: true }]).flags, 'hook');
  gates[1]?.resolve();
  lab.enabled.delete('b');
  await lab.settle();
  expect(lab.calls).toEqual(['discover', 'discover', 'discover', 'config a', 'deploy a']);
});

const web = (deletionPolicy: DeletionPolicy) =>
  moduleFor('web', 1, { manifest: { ...NO_MANIFEST, deletionPolicy } });

const notes = (lab: OperatorLab) => lab.takeCalls().filter((call) => /^(keep|let go) /.test(call));

test('that a release stays is noted on its record, and again when it was uninstalled', async () => {
  await using lab = await operatorLab([web('protect')]);
  await lab.converge();
  expect(notes(lab)).toEqual(['keep web']);
  await restart(lab);
  expect(notes(lab)).toEqual([]);
  lab.releases.clear();
  await restart(lab);
  expect(notes(lab)).toEqual(['keep web']);
});

test('a release stays again when the deletionPolicy of its module changes to and fro', async () => {
  await using lab = await operatorLab([web('protect')]);
  await lab.converge();
  for (const policy of ['delete', 'protect'] as const) {
    lab.operator.registry.setModules([web(policy)]);
    await restart(lab);
  }
  expect(notes(lab)).toEqual(['keep web', 'let go web', 'keep web']);
});
