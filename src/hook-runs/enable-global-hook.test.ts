import { expect, test } from 'vitest';
import { failing, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { startUp } from '../operator/lifecycle.ts';

function start(lab: OperatorLab): Promise<void> {
  startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
  return lab.settle();
}

test('global hooks start up in order: onStartup, schedules, Synchronization, the first converge', async () => {
  await using lab = await operatorLab(['web'], {
    'global/b.sh': { onStartup: 5, kubernetes: [{ kind: 'Pod', name: 'pods' }] },
    'global/a.sh': { onStartup: 5, schedule: [{ crontab: '* * * * *', queue: 'ticks' }] },
    'global/c.sh': { onStartup: 10, beforeAll: 1, kubernetes: [{ kind: 'Node', name: 'nodes' }] },
  });
  startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
  expect(lab.tasks()).toEqual([
    'GlobalHookRun:onStartup:a.sh:Operator-Startup',
    'GlobalHookRun:onStartup:b.sh:Operator-Startup',
    'GlobalHookRun:onStartup:c.sh:Operator-Startup',
    'GlobalHookEnableScheduleBindings::a.sh:Operator-Startup',
    'GlobalHookEnableKubernetesBindings::b.sh:Operator-Startup',
    'GlobalHookEnableKubernetesBindings::c.sh:Operator-Startup',
    'GlobalHookWaitKubernetesSynchronization:::Operator-Startup',
    'ConvergeModules:::Operator-Startup',
  ]);
  const queues = lab.operator.queues.all.map((queue) => queue.name);
  expect(queues.filter((name) => !name.startsWith('parallel_queue_'))).toEqual(['main', 'ticks']);
  expect(queues).toHaveLength(22);
  await lab.settle();
  expect(lab.calls).toEqual([
    'global/a.sh onStartup',
    'global/b.sh onStartup',
    'global/c.sh onStartup',
    'monitor global/b.sh/pods',
    'global/b.sh Synchronization:pods',
    'monitor global/c.sh/nodes',
    'global/c.sh Synchronization:nodes',
    'global/c.sh beforeAll',
    'discover',
    'config web',
    'deploy web',
  ]);
  expect(lab.runtimeOf('global/a.sh').areSchedulesEnabled).toBe(true);
});

test('a failing onStartup hook holds up everything behind it', async () => {
  await using lab = await operatorLab([], {
    'global/a.sh': { onStartup: 1 },
    'global/b.sh': { onStartup: 2 },
  });
  lab.behaviours.set('global/a.sh', failing);
  await start(lab);
  expect(lab.calls).toEqual(['global/a.sh onStartup']);
  lab.behaviours.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual([
    'global/a.sh onStartup',
    'global/a.sh onStartup',
    'global/b.sh onStartup',
    'discover',
  ]);
});

test('a monitor that cannot start is tried again, and every binding is synchronized', async () => {
  await using lab = await operatorLab([], {
    'global/a.sh': {
      kubernetes: [
        { kind: 'Pod', name: 'pods' },
        { kind: 'Nonsense', name: 'bad' },
      ],
    },
  });
  lab.obstacles.set('monitor global/a.sh/bad', failing as () => void);
  await start(lab);
  lab.obstacles.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual([
    'monitor global/a.sh/pods',
    'monitor global/a.sh/bad',
    'monitor global/a.sh/bad',
    'global/a.sh Synchronization:pods+Synchronization:bad',
    'discover',
  ]);
});

test('the converge waits for Synchronizations in other queues, unless they need no waiting', async () => {
  const slow = Promise.withResolvers<void>();
  await using lab = await operatorLab([], {
    'global/slow.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'slow' }] },
    'global/free.sh': {
      kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'free', waitForSynchronization: false }],
    },
  });
  lab.behaviours.set('global/slow.sh', () => slow.promise);
  lab.behaviours.set('global/free.sh', failing);
  await start(lab);
  expect(lab.calls).not.toContain('discover');
  slow.resolve();
  await lab.settle();
  expect(lab.calls).toContain('discover');
  expect(lab.tasks('free')).toHaveLength(1);
});

test('nothing is waited for when the hooks that were to be synchronized are gone', async () => {
  await using lab = await operatorLab([], {
    'global/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  });
  lab.behaviours.set('global/a.sh', failing);
  await start(lab);
  expect(lab.main.status.type).toBe('repeating');
  lab.replaceHooks([]);
  lab.main.prepend({ type: 'ReloadFiles', saved: [], trigger: 'test' });
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('discover');
  expect(lab.operator.converge.first).toBe('done');
});
