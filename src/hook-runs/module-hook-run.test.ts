import { expect, test } from 'vitest';
import { type HookProcess, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';

const HOOKS = {
  'web/a.sh': {
    schedule: [{ crontab: '* * * * *', queue: 'own' }],
    kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }],
  },
};

/** A hook that writes another value at each run. */
function changing(path: string) {
  let count = 0;
  return ({ write }: HookProcess): void => {
    count += 1;
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path, value: count });
  };
}

async function started(): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.takeCalls();
  return lab;
}

test('changed values of a schedule and of an event each cause a run of the module', async () => {
  await using lab = await started();
  lab.behaviours.set('web/a.sh', changing('/web/x'));
  lab.tick('web/a.sh');
  await lab.settle();
  lab.emit('web/a.sh/pods');
  await lab.settle();
  expect(lab.calls).toEqual([
    'web/a.sh Schedule:schedule',
    'deploy web {"x":1}',
    'web/a.sh Event:pods',
    'deploy web {"x":2}',
  ]);
});

test('values changed twice while a run of the module waits cause one run', async () => {
  await using lab = await started();
  const gate = Promise.withResolvers<void>();
  lab.obstacles.set('discover', () => gate.promise);
  lab.operator.router.queueConverge('GlobalValuesChanged', 'test');
  await lab.settle();
  lab.behaviours.set('web/a.sh', changing('/web/x'));
  for (let count = 0; count < 2; count += 1) {
    lab.emit('web/a.sh/pods');
    await lab.settle();
  }
  expect(lab.tasks()).toEqual(['ConvergeModules:::test', 'ModuleRun:web:Kubernetes-Change-ModuleValues']);
  gate.resolve();
  await lab.settle();
});

test.each([
  ['alone in main', () => undefined],
  [
    'behind something put at the head',
    (lab: OperatorLab) =>
      lab.main.prepend({ type: 'ApplyKubeConfigValues', changedKeys: [], trigger: 'test' }),
  ],
])('values changed while the module runs cause another run: %s', async (_where, disturb) => {
  await using lab = await started();
  const gate = Promise.withResolvers<void>();
  lab.obstacles.set('deploy web', () => gate.promise);
  lab.operator.router.queueModuleRun(lab.operator.registry.enabled[0] ?? failed(), 'test');
  await lab.settle();
  disturb(lab);
  lab.behaviours.set('web/a.sh', changing('/web/x'));
  lab.emit('web/a.sh/pods');
  await lab.settle();
  gate.resolve();
  await lab.settle();
  expect(lab.calls).toEqual(['deploy web', 'web/a.sh Event:pods', 'deploy web {"x":1}']);
});

function failed(): never {
  throw new Error('no module is enabled');
}

test('values that a Synchronization changes cause no run of their own', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  lab.behaviours.set('web/a.sh', changing('/web/x'));
  await lab.converge();
  expect(lab.calls.filter((call) => call.startsWith('deploy'))).toEqual(['deploy web {"x":1}']);
});

test('values that are the same after the run cause nothing', async () => {
  await using lab = await started();
  lab.behaviours.set('web/a.sh', ({ write }) =>
    write('VALUES_JSON_PATCH_PATH', [
      { op: 'add', path: '/web/x', value: 1 },
      { op: 'remove', path: '/web/x' },
    ]),
  );
  lab.emit('web/a.sh/pods');
  await lab.settle();
  expect(lab.calls).toEqual(['web/a.sh Event:pods']);
});

test('an event that comes while a flag disables the module for a moment reaches the hook with a Synchronization', async () => {
  await using lab = await started();
  lab.flaggedOff.add('web');
  lab.emit('web/a.sh/pods');
  await lab.settle();
  lab.flaggedOff.delete('web');
  // It waits for the Synchronization, which has the newer state.
  lab.emit('web/a.sh/pods');
  lab.startOver();
  await lab.settle();
  expect(lab.calls.filter((call) => call.startsWith('web/a.sh'))).toEqual(['web/a.sh Synchronization:pods']);
  lab.emit('web/a.sh/pods');
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('web/a.sh Event:pods');
});

test('a binding without a run for its Synchronization is given the very events it missed, in order', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': {
      kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own', executeHookOnSynchronization: false }],
    },
  });
  await lab.converge();
  lab.takeCalls();
  const seen: unknown[] = [];
  lab.behaviours.set('web/a.sh', ({ contexts }) => {
    seen.push(...contexts.map((context) => context['watchEvent']));
  });
  lab.flaggedOff.add('web');
  lab.emit('web/a.sh/pods', 'Added');
  lab.emit('web/a.sh/pods', 'Modified');
  await lab.settle();
  lab.flaggedOff.delete('web');
  lab.emit('web/a.sh/pods', 'Deleted');
  await lab.settle();
  expect(seen).toEqual([]);
  lab.startOver();
  await lab.settle();
  expect(seen).toEqual(['Added', 'Modified', 'Deleted']);
});

test('a hook of a module that is no longer wanted is not run', async () => {
  await using lab = await started();
  lab.flaggedOff.add('web');
  lab.emit('web/a.sh/pods');
  lab.tick('web/a.sh');
  await lab.settle();
  expect(lab.calls).toEqual([]);
  expect(lab.tasks('own')).toEqual([]);
});
