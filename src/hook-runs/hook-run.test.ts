import { expect, test } from 'vitest';
import { failing, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { GATHER_MS } from '../model/hook-runtime.ts';

const EVERY_MINUTE = '* * * * *';

/** Holds up the queue `own` with the first event of a hook, so that later tasks wait behind it. */
async function blocked(lab: OperatorLab, hook: string): Promise<() => Promise<void>> {
  await lab.converge();
  lab.takeCalls();
  const gate = Promise.withResolvers<void>();
  lab.behaviours.set(hook, () => gate.promise);
  lab.emit(`${hook}/gate`);
  await lab.settle();
  lab.takeCalls();
  return async () => {
    lab.behaviours.delete(hook);
    gate.resolve();
    await lab.settle();
  };
}

const GATE = { 'web/gate.sh': { kubernetes: [{ kind: 'Pod', name: 'gate', queue: 'own' }] } };

test('waiting tasks of one hook become one run, with their contexts in the order they came', async () => {
  await using lab = await operatorLab(['web'], {
    ...GATE,
    'web/a.sh': {
      kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }],
      schedule: [{ crontab: EVERY_MINUTE, queue: 'own' }],
    },
    'web/b.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  const release = await blocked(lab, 'web/gate.sh');
  lab.emit('web/a.sh/pods');
  lab.tick('web/a.sh');
  lab.emit('web/a.sh/pods');
  lab.emit('web/b.sh/pods');
  lab.emit('web/a.sh/pods');
  await release();
  expect(lab.calls).toEqual([
    'web/a.sh Event:pods+Schedule:schedule+Event:pods',
    'web/b.sh Event:pods',
    'web/a.sh Event:pods',
  ]);
});

test('a row of one group is reduced to its last context', async () => {
  await using lab = await operatorLab(['web'], {
    ...GATE,
    'web/a.sh': {
      kubernetes: [
        { kind: 'Pod', name: 'g', queue: 'own', group: 'g' },
        { kind: 'Pod', name: 'x', queue: 'own' },
      ],
    },
  });
  const release = await blocked(lab, 'web/gate.sh');
  for (const binding of ['g', 'g', 'x', 'g']) lab.emit(`web/a.sh/${binding}`);
  await release();
  expect(lab.calls).toEqual(['web/a.sh Group:g+Event:x+Group:g']);
});

test('a failing run keeps what was combined and takes in what came later', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  lab.takeCalls();
  lab.behaviours.set('web/a.sh', failing);
  lab.emit('web/a.sh/pods');
  lab.emit('web/a.sh/pods');
  await lab.settle();
  lab.emit('web/a.sh/pods');
  lab.behaviours.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual(['web/a.sh Event:pods+Event:pods', 'web/a.sh Event:pods+Event:pods+Event:pods']);
  expect(lab.tasks('own')).toEqual([]);
});

test('a hook that coalesces events gets the deletion of an object that a failed run was given', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own', coalesce: 'object' }] },
  });
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  lab.emit('web/a.sh/pods', 'Added');
  await lab.settle();
  lab.emit('web/a.sh/pods', 'Deleted');
  const given: unknown[] = [];
  lab.behaviours.set('web/a.sh', ({ contexts }) => {
    given.push(...contexts.map(({ watchEvent }) => watchEvent));
  });
  await lab.pass(5_000, 1);
  expect(given).toEqual(['Deleted']);
});

test('a failure that is allowed drops its own events, and none that must not fail', async () => {
  await using lab = await operatorLab(['web'], {
    ...GATE,
    'web/a.sh': {
      kubernetes: [
        { kind: 'Pod', name: 'may', queue: 'own', allowFailure: true },
        { kind: 'Pod', name: 'must', queue: 'own' },
      ],
    },
  });
  const release = await blocked(lab, 'web/gate.sh');
  lab.behaviours.set('web/a.sh', failing);
  lab.emit('web/a.sh/may');
  lab.emit('web/a.sh/may');
  lab.emit('web/a.sh/must');
  await release();
  expect(lab.calls).toEqual(['web/a.sh Event:may+Event:may', 'web/a.sh Event:must']);
  expect(lab.tasks('own')).toEqual(['ModuleHookRun:web:kubernetes:a.sh:must:Kubernetes']);
  expect(await lab.operator.metrics.scrape()).toMatch(
    /module_hook_allowed_errors_total\{[^}]*hook="a\.sh"[^}]*\} 1\n/,
  );
});

test('contexts that are over the limit of a run go into the next runs, in order, and a failure repeats only its own', async () => {
  await using lab = await operatorLab(
    ['web'],
    { ...GATE, 'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] } },
    { maxContextBytes: 120 },
  );
  const release = await blocked(lab, 'web/gate.sh');
  const runs: unknown[][] = [];
  lab.behaviours.set('web/a.sh', ({ contexts }) => {
    runs.push(contexts.map(({ filterResult }) => filterResult));
    if (runs.length === 2) throw new Error('once');
  });
  const monitor = lab.monitors.get('web/a.sh/pods');
  for (let count = 1; count <= 5; count += 1)
    monitor?.emit({ watchEvent: 'Modified', key: '/a', item: { filterResult: count } });
  await release();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(runs).toEqual([[1], [2], [2], [3], [4], [5]]);
  expect(lab.tasks('own')).toEqual([]);
});

test('an allowed failure drops only the contexts of its run, not those that did not fit into it', async () => {
  await using lab = await operatorLab(
    ['web'],
    {
      ...GATE,
      'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own', allowFailure: true }] },
    },
    { maxContextBytes: 180 },
  );
  const release = await blocked(lab, 'web/gate.sh');
  lab.behaviours.set('web/a.sh', failing);
  for (let count = 0; count < 5; count += 1) lab.emit('web/a.sh/pods');
  await release();
  expect(lab.calls).toEqual(['web/a.sh Event:pods+Event:pods+Event:pods', 'web/a.sh Event:pods+Event:pods']);
  expect(lab.tasks('own')).toEqual([]);
});

test('without allowFailure the task waits at the head of its queue and holds up no other queue', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'q1' }] },
    'web/b.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'q1' }] },
    'web/c.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'q2' }] },
    'web/d.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] },
  });
  await lab.converge();
  lab.takeCalls();
  lab.behaviours.set('web/a.sh', failing);
  for (const hook of ['a', 'b', 'c', 'd']) lab.emit(`web/${hook}.sh/pods`);
  await lab.settle();
  expect(lab.calls.toSorted()).toEqual(['web/a.sh Event:pods', 'web/c.sh Event:pods', 'web/d.sh Event:pods']);
  expect(lab.tasks('q1')).toHaveLength(2);
});

test('Synchronizations of one queue are one run unless their flags differ', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': {
      kubernetes: [
        { kind: 'Pod', name: 'one', queue: 'own' },
        { kind: 'Pod', name: 'two', queue: 'own' },
        { kind: 'Pod', name: 'free', queue: 'own', waitForSynchronization: false },
        { kind: 'Pod', name: 'skipped', queue: 'own', executeHookOnSynchronization: false },
        { kind: 'Pod', name: 'last', queue: 'own' },
      ],
    },
  });
  await lab.converge();
  expect(lab.calls.filter((call) => call.includes('Synchronization'))).toEqual([
    'web/a.sh Synchronization:one+Synchronization:two',
    'web/a.sh Synchronization:free',
    'web/a.sh Synchronization:last',
  ]);
  expect([...lab.monitors.values()].every((monitor) => monitor.isUnlocked)).toBe(true);
  expect(lab.calls).toContain('deploy web');
});

test('a Synchronization that may fail counts as done', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', allowFailure: true }] },
  });
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  expect(lab.monitors.get('web/a.sh/pods')?.isUnlocked).toBe(true);
  expect(lab.calls.at(-1)).toBe('deploy web');
});

test('a hook with a rate limit runs at once, then with everything that came during the wait', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': {
      kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own', executeHookOnSynchronization: false }],
      settings: { executionMinInterval: '3s', executionBurst: 1 },
    },
  });
  await lab.converge();
  // The Synchronization that is skipped took a token, too.
  await lab.clock.advance(3_000);
  await lab.settle();
  lab.takeCalls();
  lab.emit('web/a.sh/pods');
  await lab.settle();
  expect(lab.calls).toEqual(['web/a.sh Event:pods']);
  for (let count = 0; count < 5; count += 1) lab.emit('web/a.sh/pods');
  await lab.clock.advance(2_999);
  await lab.settle();
  for (let count = 0; count < 4; count += 1) lab.emit('web/a.sh/pods');
  expect(lab.calls).toHaveLength(1);
  await lab.clock.advance(1);
  await lab.settle();
  expect(lab.calls.slice(1)).toEqual([`web/a.sh ${Array(9).fill('Event:pods').join('+')}`]);
});

test('events that come faster than their hook takes them are gathered for a moment', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  const gate = Promise.withResolvers<void>();
  lab.behaviours.set('web/a.sh', () => gate.promise);
  lab.takeCalls();
  const emit = async (count: number): Promise<readonly string[]> => {
    for (let sent = 0; sent < count; sent += 1) lab.emit('web/a.sh/pods');
    await lab.settle();
    return lab.takeCalls();
  };
  expect(await emit(1)).toEqual(['web/a.sh Event:pods']);
  expect(await emit(2)).toEqual([]);
  gate.resolve();
  await lab.settle();
  expect(lab.clock.pendingDelaysMs).toContain(GATHER_MS);
  expect(await emit(1)).toEqual([]);
  await lab.clock.advance(GATHER_MS);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['web/a.sh Event:pods+Event:pods+Event:pods']);
  // One at a time, or after a while, they are not kept waiting.
  expect(await emit(1)).toEqual(['web/a.sh Event:pods']);
  await lab.clock.advance(GATHER_MS);
  expect(await emit(2)).toEqual(['web/a.sh Event:pods+Event:pods']);
});

test('a hook that is removed while its events are gathered is not run', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  const gate = Promise.withResolvers<void>();
  lab.behaviours.set('web/a.sh', () => gate.promise);
  lab.emit('web/a.sh/pods');
  await lab.settle();
  lab.takeCalls();
  for (let sent = 0; sent < 2; sent += 1) lab.emit('web/a.sh/pods');
  gate.resolve();
  await lab.settle();
  expect(lab.clock.pendingDelaysMs).toContain(GATHER_MS);
  await lab.runtimeOf('web/a.sh').stop();
  await lab.settle();
  expect(lab.tasks('own')).toEqual([]);
  expect(lab.takeCalls()).toEqual([]);
});

test('a retry sees fresh snapshots and the old object', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', includeSnapshotsFrom: ['pods'] }] },
  });
  await lab.converge();
  const seen: unknown[] = [];
  lab.behaviours.set('web/a.sh', ({ contexts }) => {
    seen.push(contexts[0]?.['snapshots']);
    if (seen.length === 1) throw new Error('once');
  });
  const monitor = lab.monitors.get('web/a.sh/pods');
  if (monitor === undefined) throw new Error('no monitor');
  monitor.items = [{ filterResult: 'old' }];
  lab.emit('web/a.sh/pods');
  await lab.settle();
  monitor.items = [{ filterResult: 'new' }];
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(seen).toEqual([{ pods: [{ filterResult: 'old' }] }, { pods: [{ filterResult: 'new' }] }]);
});

test('records of a run carry its labels', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  lab.emit('web/a.sh/pods');
  await lab.settle();
  const finished = lab.log.records.filter((record) => record['msg'] === 'hook finished');
  expect(finished).toMatchObject([
    {
      module: 'web',
      hook: 'a.sh',
      binding: 'kubernetesSynchronization',
      'binding.name': 'pods',
      queue: 'own',
    },
    { module: 'web', hook: 'a.sh', binding: 'kubernetes', 'binding.name': 'pods', queue: 'own' },
  ]);
});

test('an orderly stop ends the wait of a failed hook, without another run', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  lab.emit('web/a.sh/pods');
  await lab.settle();
  lab.takeCalls();
  lab.stop.abort();
  await lab.operator.queues.ended();
  expect(lab.calls).toEqual([]);
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});

test('runs of a hook without configVersion are never combined, and it knows no Synchronization', async () => {
  await using lab = await operatorLab(['web'], {
    'web/old.sh': { configVersion: undefined, onKubernetesEvent: [{ kind: 'Pod', event: ['add'] }] },
  });
  await lab.converge();
  expect(lab.takeCalls().filter((call) => call.startsWith('web/old.sh'))).toEqual([]);
  expect(lab.monitors.get('web/old.sh/onKubernetesEvent')?.isUnlocked).toBe(true);
  lab.emit('web/old.sh/onKubernetesEvent');
  lab.emit('web/old.sh/onKubernetesEvent');
  await lab.settle();
  expect(lab.calls).toEqual(['web/old.sh onKubernetesEvent', 'web/old.sh onKubernetesEvent']);
});

test('a hook that waits for its rate limit lets its queue go on when it is removed', async () => {
  await using lab = await operatorLab(['web'], {
    'web/slow.sh': {
      kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own', executeHookOnSynchronization: false }],
      settings: { executionMinInterval: '1h', executionBurst: 1 },
    },
    'web/other.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  lab.takeCalls();
  lab.emit('web/slow.sh/pods');
  lab.emit('web/other.sh/pods');
  await lab.settle();
  expect(lab.calls).toEqual([]);
  await lab.runtimeOf('web/slow.sh').stop();
  await lab.settle();
  expect(lab.calls).toEqual(['web/other.sh Event:pods']);
});

test('the record of a run for several events has their number', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  await lab.converge();
  const gate = Promise.withResolvers<void>();
  lab.behaviours.set('web/a.sh', () => gate.promise);
  lab.emit('web/a.sh/pods');
  await lab.settle();
  const earlier = lab.log.records.length;
  for (let sent = 0; sent < 3; sent += 1) lab.emit('web/a.sh/pods');
  gate.resolve();
  await lab.settle();
  await lab.clock.advance(GATHER_MS);
  await lab.settle();
  const finished = lab.log.records.slice(earlier).filter(({ msg }) => msg === 'hook finished');
  expect(finished.map((record) => record['contexts'])).toEqual([undefined, 3]);
});
