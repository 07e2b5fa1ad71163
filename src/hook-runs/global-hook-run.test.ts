import { expect, test } from 'vitest';
import { type HookProcess, operatorLab } from '../../test/support/operator-lab.ts';

const EVERY_MINUTE = '* * * * *';

const setsGlobal =
  (value: unknown) =>
  ({ write }: HookProcess): void =>
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/global/x', value });

const setsFlag =
  (value: boolean) =>
  ({ write }: HookProcess): void =>
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/webEnabled', value });

/** A global hook in operation: a schedule and a binding, both in a queue of their own. */
const HOOKS = {
  'global/a.sh': {
    schedule: [{ crontab: EVERY_MINUTE, queue: 'own' }],
    kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }],
  },
};

async function started() {
  const lab = await operatorLab(['web'], HOOKS);
  const runtime = lab.runtimeOf('global/a.sh');
  lab.main.append({ type: 'GlobalHookEnableScheduleBindings', hook: runtime, trigger: 'start' });
  lab.main.append({ type: 'GlobalHookEnableKubernetesBindings', hook: runtime, trigger: 'start' });
  lab.main.append({ type: 'GlobalHookWaitKubernetesSynchronization', trigger: 'start' });
  await lab.converge();
  lab.takeCalls();
  return lab;
}

test('changed global values of a schedule and of an event each cause a converge', async () => {
  await using lab = await started();
  lab.behaviours.set('global/a.sh', setsGlobal(1));
  lab.tick('global/a.sh');
  await lab.settle();
  lab.behaviours.set('global/a.sh', setsGlobal(2));
  lab.emit('global/a.sh/pods');
  await lab.settle();
  expect(lab.calls).toEqual([
    'global/a.sh Schedule:schedule',
    'discover',
    'deploy web',
    'global/a.sh Event:pods',
    'discover',
    'deploy web',
  ]);
  expect(lab.log.records.filter(({ msg }) => msg === 'ConvergeModules task done').slice(1)).toMatchObject([
    { trigger: 'Schedule-Change-GlobalValues' },
    { trigger: 'Kubernetes-Change-GlobalValues' },
  ]);
  expect(lab.globalChanges).toBe(2);
});

test('a patch that leaves the values as they are causes nothing', async () => {
  await using lab = await started();
  lab.behaviours.set('global/a.sh', setsGlobal(1));
  lab.tick('global/a.sh');
  await lab.settle();
  lab.takeCalls();
  lab.tick('global/a.sh');
  await lab.settle();
  expect(lab.calls).toEqual(['global/a.sh Schedule:schedule']);
});

test('values changed during a converge cause another one behind it', async () => {
  await using lab = await started();
  const gate = Promise.withResolvers<void>();
  lab.obstacles.set('deploy web', () => gate.promise);
  lab.operator.router.queueConverge('GlobalValuesChanged', 'test');
  await lab.settle();
  lab.behaviours.set('global/a.sh', setsGlobal(1));
  lab.tick('global/a.sh');
  await lab.settle();
  expect(lab.calls).toEqual(['discover', 'deploy web', 'global/a.sh Schedule:schedule']);
  gate.resolve();
  await lab.settle();
  expect(lab.calls.slice(3)).toEqual(['discover', 'deploy web']);
});

test('values that a Synchronization changes cause no converge', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  lab.behaviours.set('global/a.sh', setsGlobal(1));
  lab.main.append({
    type: 'GlobalHookEnableKubernetesBindings',
    hook: lab.runtimeOf('global/a.sh'),
    trigger: 'start',
  });
  await lab.converge();
  expect(lab.calls.filter((call) => call === 'discover')).toHaveLength(1);
  expect(lab.values.globalValues()).toEqual({ x: 1 });
});

test('values that an event changes count, although a Synchronization is part of the run', async () => {
  await using lab = await operatorLab(['web'], {
    ...HOOKS,
    'global/gate.sh': { kubernetes: [{ kind: 'Pod', name: 'gate', queue: 'own' }] },
  });
  await lab.converge();
  lab.takeCalls();
  const runtime = lab.runtimeOf('global/a.sh');
  const gate = Promise.withResolvers<void>();
  lab.behaviours.set('global/gate.sh', () => gate.promise);
  lab.main.append({
    type: 'GlobalHookEnableKubernetesBindings',
    hook: lab.runtimeOf('global/gate.sh'),
    trigger: 'start',
  });
  await lab.settle();
  lab.main.append({ type: 'GlobalHookEnableKubernetesBindings', hook: runtime, trigger: 'start' });
  await lab.settle();
  lab.operator.bindings.setSchedules(runtime, true);
  lab.tick('global/a.sh');
  lab.behaviours.set('global/a.sh', setsGlobal(1));
  gate.resolve();
  await lab.settle();
  expect(lab.calls).toContain('global/a.sh Synchronization:pods+Schedule:schedule');
  expect(lab.calls.slice(-2)).toEqual(['discover', 'deploy web']);
});

test('a changed flag of a module starts the converge over, an unchanged one does not', async () => {
  await using lab = await started();
  lab.behaviours.set('global/a.sh', setsFlag(false));
  lab.tick('global/a.sh');
  lab.enabled.delete('web');
  await lab.settle();
  lab.tick('global/a.sh');
  await lab.settle();
  expect(lab.calls).toEqual([
    'global/a.sh Schedule:schedule',
    'discover',
    'uninstall web',
    'global/a.sh Schedule:schedule',
  ]);
});

test('a flag set before the first discovery is only remembered', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': { onStartup: 1, beforeAll: 1 } });
  lab.behaviours.set('global/a.sh', setsFlag(true));
  await lab.converge();
  expect(lab.calls).toEqual(['global/a.sh beforeAll', 'discover', 'config web', 'deploy web']);
  expect(lab.dynamicFlags.all.size).toBe(1);
});

test('a flag that a beforeAll hook flips in a later converge starts it over once', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': { beforeAll: 1 } });
  await lab.converge();
  lab.takeCalls();
  lab.behaviours.set('global/a.sh', setsFlag(true));
  lab.operator.router.queueConverge('GlobalValuesChanged', 'test');
  await lab.settle();
  expect(lab.calls).toEqual(['global/a.sh beforeAll', 'global/a.sh beforeAll', 'discover', 'deploy web']);
});

test('a schedule is ignored until the first converge is over', async () => {
  const gate = Promise.withResolvers<void>();
  await using lab = await operatorLab(['web'], HOOKS);
  lab.operator.bindings.setSchedules(lab.runtimeOf('global/a.sh'), true);
  lab.obstacles.set('deploy web', () => gate.promise);
  await lab.converge();
  lab.tick('global/a.sh');
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('deploy web');
  gate.resolve();
  await lab.settle();
  lab.tick('global/a.sh');
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('global/a.sh Schedule:schedule');
});
