import { expect, test } from 'vitest';
import { failing, moduleFor, name, operatorLab } from '../../test/support/operator-lab.ts';

const ALL_PHASES = {
  'web/a.sh': { onStartup: 2, beforeHelm: 1, afterHelm: 1, schedule: [{ crontab: '* * * * *' }] },
  'web/b.sh': { onStartup: 1, beforeHelm: 2, kubernetes: [{ kind: 'Pod', name: 'pods' }] },
};

test('a new module goes through all phases, in order', async () => {
  await using lab = await operatorLab(['web'], ALL_PHASES);
  await lab.converge();
  expect(lab.calls).toEqual([
    'discover',
    'config web',
    'web/b.sh onStartup',
    'web/a.sh onStartup',
    'monitor web/b.sh/pods',
    'web/b.sh Synchronization:pods',
    'web/a.sh beforeHelm',
    'web/b.sh beforeHelm',
    'deploy web',
    'web/a.sh afterHelm',
  ]);
  expect(lab.operator.registry.tracked.get(name('web'))).toMatchObject({ phase: 'ready', isDeployed: true });
  expect(lab.runtimeOf('web/a.sh').areSchedulesEnabled).toBe(true);
  expect(lab.monitors.get('web/b.sh/pods')?.isUnlocked).toBe(true);
});

test('queues that bindings of a module name are there before its first hook runs', async () => {
  const schedule = [{ crontab: '* * * * *', queue: 'ticks' }];
  const kubernetes = [{ kind: 'Pod', name: 'pods', queue: 'pods', executeHookOnSynchronization: false }];
  await using lab = await operatorLab(['web'], { 'web/a.sh': { onStartup: 1, schedule, kubernetes } });
  const names: string[] = [];
  lab.behaviours.set('web/a.sh', () => {
    names.push(...lab.operator.queues.all.map((queue) => queue.name));
  });
  await lab.converge();
  expect(names).toEqual(expect.arrayContaining(['pods', 'ticks']));
});

test('a later run begins at beforeHelm', async () => {
  await using lab = await operatorLab(['web'], ALL_PHASES);
  await lab.converge();
  lab.takeCalls();
  lab.operator.router.queueModuleRun(name('web'), 'test');
  await lab.settle();
  expect(lab.calls).toEqual([
    'web/a.sh beforeHelm',
    'web/b.sh beforeHelm',
    'deploy web',
    'web/a.sh afterHelm',
  ]);
});

test('modules run one after another, and a failing one holds up those behind it', async () => {
  await using lab = await operatorLab(['a', 'b', 'c'], { 'b/hook.sh': { beforeHelm: 1 } });
  lab.behaviours.set('b/hook.sh', failing);
  await lab.converge();
  expect(lab.calls).toEqual(['discover', 'config a', 'deploy a', 'config b', 'b/hook.sh beforeHelm']);
  expect(lab.operator.converge.first).toBe('running');
  const failures = lab.log.records.filter(({ level }) => level === 'error');
  expect(failures).toMatchObject([
    { msg: 'ModuleRun failed. Requeue task to retry after delay.', phase: 'helm', count: 1 },
  ]);
  lab.behaviours.delete('b/hook.sh');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls.slice(5)).toEqual(['b/hook.sh beforeHelm', 'deploy b', 'config c', 'deploy c']);
  expect(lab.operator.converge.first).toBe('done');
});

test('each second that a failing run waits in its queue is counted once', async () => {
  await using lab = await operatorLab(['web'], { 'web/hook.sh': { beforeHelm: 1 } });
  lab.behaviours.set('web/hook.sh', failing);
  await lab.converge();
  for (const delayMs of [5_000, 6_000, 7_000]) {
    await lab.clock.advance(delayMs);
    await lab.settle();
  }
  const page = await lab.operator.metrics.scrape();
  expect(/task_wait_in_queue_seconds_total\{module="web",.*"ModuleRun".*\} (.*)/.exec(page)?.[1]).toBe('18');
});

test.each([
  [
    'beforeHelm',
    { 'web/bad.sh': { beforeHelm: 9 } },
    ['web/bad.sh beforeHelm', 'deploy web', 'web/ok.sh afterHelm'],
  ],
  [
    'afterHelm',
    { 'web/bad.sh': { afterHelm: 9 } },
    ['deploy web', 'web/ok.sh afterHelm', 'web/bad.sh afterHelm'],
  ],
])(
  'after a failure in %s of its first run a module begins with onStartup again',
  async (_binding, bad, end) => {
    await using lab = await operatorLab(['web'], {
      'web/ok.sh': { onStartup: 1, beforeHelm: 1, afterHelm: 1, kubernetes: [{ kind: 'Pod', name: 'pods' }] },
      ...bad,
    });
    lab.behaviours.set('web/bad.sh', failing);
    await lab.converge();
    lab.behaviours.delete('web/bad.sh');
    lab.takeCalls();
    await lab.clock.advance(4_999);
    await lab.settle();
    expect(lab.calls).toEqual([]);
    await lab.clock.advance(1);
    await lab.settle();
    expect(lab.calls).toEqual(['web/ok.sh onStartup', 'web/ok.sh beforeHelm', ...end]);
  },
);

test('a failing helm counts as a failure of the run, too', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { onStartup: 1, afterHelm: 1 } });
  lab.obstacles.set('deploy web', failing as () => void);
  await lab.converge();
  lab.obstacles.clear();
  lab.takeCalls();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual(['web/a.sh onStartup', 'deploy web', 'web/a.sh afterHelm']);
});

test('once a module ran to its end, a retry begins at beforeHelm', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { onStartup: 1, beforeHelm: 1, afterHelm: 1 } });
  await lab.converge();
  lab.obstacles.set('deploy web', failing as () => void);
  lab.operator.router.queueModuleRun(name('web'), 'test');
  await lab.settle();
  lab.obstacles.clear();
  lab.takeCalls();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual(['web/a.sh beforeHelm', 'deploy web', 'web/a.sh afterHelm']);
});

test('a failing onStartup hook lets all onStartup hooks run again', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { onStartup: 1 },
    'web/b.sh': { onStartup: 2 },
  });
  lab.behaviours.set('web/b.sh', failing);
  await lab.converge();
  expect(lab.main.entries[0]?.lastError).toBe(
    "run hooks by binding onStartup: module hook 'b.sh' failed: hook is broken",
  );
  lab.behaviours.clear();
  lab.takeCalls();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual(['web/a.sh onStartup', 'web/b.sh onStartup', 'deploy web']);
});

test('the configuration of a hook that fails is requested again with that of all others', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { onStartup: 1 } });
  lab.obstacles.set('config web', failing as () => void);
  await lab.converge();
  lab.obstacles.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual(['discover', 'config web', 'config web', 'web/a.sh onStartup', 'deploy web']);
});

test('a failing Synchronization is retried alone, before anything else of the module', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { onStartup: 1, kubernetes: [{ kind: 'Pod', name: 'pods' }] },
  });
  let failures = 2;
  lab.behaviours.set('web/a.sh', ({ contexts }) => {
    if (contexts[0]?.type !== 'Synchronization' || failures === 0) return;
    failures -= 1;
    throw new Error('not yet');
  });
  await lab.converge();
  expect(lab.monitors.get('web/a.sh/pods')?.isUnlocked).toBe(false);
  await lab.clock.advance(5_000);
  await lab.settle();
  await lab.clock.advance(6_000);
  await lab.settle();
  expect(lab.calls.slice(2)).toEqual([
    'web/a.sh onStartup',
    'monitor web/a.sh/pods',
    'web/a.sh Synchronization:pods',
    'web/a.sh Synchronization:pods',
    'web/a.sh Synchronization:pods',
    'deploy web',
  ]);
});

test('monitors that started stay when another one fails to start', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': {
      onStartup: 1,
      kubernetes: [
        { kind: 'Pod', name: 'pods' },
        { kind: 'Nonsense', name: 'bad' },
      ],
    },
  });
  lab.obstacles.set('monitor web/a.sh/bad', failing as () => void);
  await lab.converge();
  expect(lab.monitors.get('web/a.sh/bad')?.isStopped).toBe(true);
  lab.obstacles.clear();
  lab.takeCalls();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual([
    'monitor web/a.sh/bad',
    'web/a.sh Synchronization:pods+Synchronization:bad',
    'deploy web',
  ]);
});

test('helm waits for Synchronizations in other queues, but not for those that need no waiting', async () => {
  const gates = new Map(['web/slow.sh', 'web/free.sh'].map((hook) => [hook, Promise.withResolvers<void>()]));
  await using lab = await operatorLab(['web'], {
    'web/slow.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'slow' }] },
    'web/free.sh': {
      kubernetes: [{ kind: 'Pod', name: 'free', queue: 'free', waitForSynchronization: false }],
    },
  });
  for (const [hook, { promise }] of gates) lab.behaviours.set(hook, () => promise);
  await lab.converge();
  expect(lab.calls).not.toContain('deploy web');
  expect(lab.main.status.type).toBe('repeating');
  gates.get('web/slow.sh')?.resolve();
  await lab.settle();
  expect(lab.calls).toContain('deploy web');
  expect(lab.monitors.get('web/free.sh/free')?.isUnlocked).toBe(false);
  gates.get('web/free.sh')?.resolve();
  await lab.settle();
  expect(lab.monitors.get('web/free.sh/free')?.isUnlocked).toBe(true);
});

test('an unwanted Synchronization is not run, but lets its events through', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', executeHookOnSynchronization: false }] },
  });
  await lab.converge();
  expect(lab.calls).toEqual(['discover', 'config web', 'monitor web/a.sh/pods', 'deploy web']);
  expect(lab.monitors.get('web/a.sh/pods')?.isUnlocked).toBe(true);
});

test('values changed before helm are used by the same run; changed after helm they cause exactly one more', async () => {
  await using lab = await operatorLab(['web'], {
    'web/before.sh': { beforeHelm: 1 },
    'web/after.sh': { afterHelm: 1 },
  });
  lab.behaviours.set('web/before.sh', ({ write }) =>
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/b', value: 1 }),
  );
  lab.behaviours.set('web/after.sh', ({ write }) =>
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/a', value: 1 }),
  );
  await lab.converge();
  expect(lab.calls.filter((call) => call.startsWith('deploy'))).toEqual([
    'deploy web {"b":1}',
    'deploy web {"a":1,"b":1}',
  ]);
  expect(lab.calls.filter((call) => call.startsWith('config'))).toHaveLength(1);
  expect(lab.operator.registry.tracked.get(name('web'))?.phase).toBe('ready');
});

test('a module without a chart runs its hooks and no helm', async () => {
  await using lab = await operatorLab([moduleFor('web', 1, { chart: 'none' })], {
    'web/a.sh': { beforeHelm: 1, afterHelm: 1 },
  });
  await lab.converge();
  expect(lab.calls).toEqual(['discover', 'config web', 'web/a.sh beforeHelm', 'web/a.sh afterHelm']);
  expect(lab.log.records).toContainEqual(
    expect.objectContaining({
      level: 'info',
      msg: 'neither Chart.yaml nor templates/: hooks only, no release',
      module: 'web',
    }),
  );
});

test('a run of a module that is no longer wanted ends without doing anything', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  await lab.converge();
  lab.takeCalls();
  lab.operator.router.queueModuleRun(name('web'), 'test');
  lab.flaggedOff.add('web');
  await lab.settle();
  expect(lab.calls).toEqual([]);
  expect(lab.main.length).toBe(0);
});

test('Synchronizations that a restarted converge dropped are made anew', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'one' }] },
    'web/b.sh': { kubernetes: [{ kind: 'Pod', name: 'two' }] },
  });
  let runs = 0;
  lab.behaviours.set('web/a.sh', () => {
    runs += 1;
    return runs === 1 ? gate.promise : undefined;
  });
  await lab.converge();
  expect(lab.tasks()[0]).toContain('web:kubernetes:a.sh:one');
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  gate.resolve();
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('deploy web');
  expect(lab.calls).toContain('web/b.sh Synchronization:two');
  expect(lab.monitors.get('web/b.sh/two')?.isUnlocked).toBe(true);
  expect(lab.main.length).toBe(0);
});

test('Synchronizations are not lost when the converge is restarted while monitors start', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'one' }] },
  });
  lab.obstacles.set('monitor web/a.sh/one', () => gate.promise);
  await lab.converge();
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  gate.resolve();
  await lab.settle();
  expect(lab.calls.slice(-2)).toEqual(['web/a.sh Synchronization:one', 'deploy web']);
});

test('a Synchronization skipped while its module was flagged off is made anew', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'one', queue: 'own' }] },
  });
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  lab.flaggedOff.add('web');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.tasks('own')).toEqual([]);
  lab.flaggedOff.clear();
  lab.behaviours.clear();
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.calls.slice(-2)).toEqual(['web/a.sh Synchronization:one', 'deploy web']);
});
