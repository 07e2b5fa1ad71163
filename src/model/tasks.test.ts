import { expect, test } from 'vitest';
import { hookFor, name, operatorLab } from '../../test/support/operator-lab.ts';
import type { RunReason } from '../hooks/binding-context.ts';
import type { HookRuntime } from './hook-runtime.ts';
import {
  countsForConverge,
  describeTask,
  hookOf,
  isConvergeTask,
  isOnlySynchronization,
  isSynchronization,
  moduleOf,
  type Task,
} from './tasks.ts';

async function runtimes(): Promise<{ global: HookRuntime; module: HookRuntime }> {
  const bindings = {
    kubernetes: [
      { kind: 'Pod', name: 'pods' },
      { kind: 'Node', name: 'nodes' },
    ],
    schedule: [{ crontab: '* * * * *', name: 'tick' }],
  };
  const lab = await operatorLab(['web']);
  const { createRuntime } = lab.operator.bindings;
  return {
    global: createRuntime(await hookFor('global/a.sh', bindings)),
    module: createRuntime(await hookFor('web/b.sh', bindings)),
  };
}

/** Reasons for a run: `sync`, `event` and `schedule` of the hook's bindings, or the name of a lifecycle binding. */
function reasonsOf(hook: HookRuntime, ...types: readonly string[]): readonly RunReason[] {
  const { kubernetes, schedule } = hook.hook.config;
  const [pods, nodes] = kubernetes;
  const [tick] = schedule;
  if (pods === undefined || nodes === undefined || tick === undefined) throw new Error('no bindings');
  return types.map((type): RunReason => {
    if (type === 'sync') return { type: 'synchronization', binding: pods };
    if (type === 'event')
      return { type: 'event', binding: nodes, event: { watchEvent: 'Added', key: '/a', item: {} } };
    if (type === 'schedule') return { type: 'schedule', binding: tick };
    return { type: 'lifecycle', binding: type === 'afterAll' ? 'afterAll' : 'onStartup' };
  });
}

const run = (binding: 'kubernetes' | 'schedule' | 'onStartup' | 'beforeAll' | 'afterAll') => ({
  binding,
  allowFailure: false,
  trigger: 't',
  activation: '',
});

const OTHERS: readonly Task[] = [
  { type: 'ConvergeModules', event: 'OperatorStartup', trigger: 't' },
  { type: 'ModuleDelete', module: name('web'), trigger: 't' },
  { type: 'DiscoverHelmReleases', trigger: 't' },
  { type: 'ModulePurge', release: 'old', trigger: 't' },
  { type: 'ApplyKubeConfigValues', changedKeys: [], trigger: 't' },
  { type: 'ReloadFiles', saved: [], trigger: 't' },
  { type: 'GlobalHookWaitKubernetesSynchronization', trigger: 't' },
];

function moduleRun(fields: Partial<Extract<Task, { type: 'ModuleRun' }>>): Task {
  return {
    type: 'ModuleRun',
    module: name('web'),
    doModuleStartup: false,
    isPartOfConverge: false,
    trigger: 't',
    activation: '',
    ...fields,
  };
}

test('describeTask() gives one line for people', async () => {
  const { global, module } = await runtimes();
  const describe = (task: Task) => describeTask(task, 'q');
  expect([...OTHERS, moduleRun({}), moduleRun({ doModuleStartup: true })].map(describe)).toEqual([
    'ConvergeModules:q:::t',
    'ModuleDelete:q:web:t',
    'DiscoverHelmReleases:q:::t',
    'ModulePurge:q:old:t',
    'ApplyKubeConfigValues:q:::t',
    'ReloadFiles:q:::t',
    'GlobalHookWaitKubernetesSynchronization:q:::t',
    'ModuleRun:q:web:t',
    'ModuleRun:q:web:doStartup:t',
  ]);
  expect(
    describe({
      type: 'GlobalHookRun',
      hook: global,
      reasons: reasonsOf(global, 'onStartup'),
      ...run('onStartup'),
    }),
  ).toBe('GlobalHookRun:q:onStartup:a.sh:t');
  expect(
    describe({
      type: 'ModuleHookRun',
      module: name('web'),
      hook: module,
      reasons: reasonsOf(module, 'sync', 'event', 'sync'),
      ...run('kubernetes'),
    }),
  ).toBe('ModuleHookRun:q:web:kubernetes:b.sh:nodes,pods in 3 contexts:t');
  expect(describe({ type: 'GlobalHookEnableScheduleBindings', hook: global, trigger: 't' })).toBe(
    'GlobalHookEnableScheduleBindings:q::a.sh:t',
  );
});

test('a task knows its module and its hook, if it has any', async () => {
  const { module } = await runtimes();
  const task: Task = {
    type: 'ModuleHookRun',
    module: name('web'),
    hook: module,
    reasons: reasonsOf(module, 'event'),
    ...run('kubernetes'),
  };
  expect([moduleOf(task), hookOf(task)]).toEqual(['web', 'b.sh']);
  expect([moduleOf(moduleRun({})), hookOf(moduleRun({}))]).toEqual(['web', '']);
  expect(OTHERS.map(moduleOf)).toEqual(['', 'web', '', '', '', '', '']);
});

test('isConvergeTask() names what a converge makes anew when it starts over', async () => {
  const { global, module } = await runtimes();
  const globalRun = (
    binding: 'beforeAll' | 'afterAll' | 'onStartup' | 'kubernetes',
    reason: string,
  ): Task => ({
    type: 'GlobalHookRun',
    hook: global,
    reasons: reasonsOf(global, reason),
    ...run(binding),
  });
  const hookRun = (reason: string): Task => ({
    type: 'ModuleHookRun',
    module: name('web'),
    hook: module,
    reasons: reasonsOf(module, reason),
    ...run('kubernetes'),
  });
  const yes = [
    ...OTHERS.slice(0, 2),
    moduleRun({ isPartOfConverge: true }),
    globalRun('beforeAll', 'afterAll'),
    globalRun('afterAll', 'afterAll'),
    hookRun('sync'),
  ];
  const no = [
    ...OTHERS.slice(2),
    moduleRun({}),
    globalRun('onStartup', 'onStartup'),
    globalRun('kubernetes', 'sync'),
    hookRun('event'),
  ];
  expect(yes.map(isConvergeTask)).toEqual(yes.map(() => true));
  expect(no.map(isConvergeTask)).toEqual(no.map(() => false));
});

test('countsForConverge() counts also what the start and the purge consist of', async () => {
  const { global } = await runtimes();
  const enabling: Task = { type: 'GlobalHookEnableKubernetesBindings', hook: global, trigger: 't' };
  expect(OTHERS.filter(countsForConverge).map((task) => task.type)).toEqual([
    'ConvergeModules',
    'ModuleDelete',
    'DiscoverHelmReleases',
    'ModulePurge',
  ]);
  expect([countsForConverge(enabling), isConvergeTask(enabling)]).toEqual([true, false]);
});

test.each([
  [['sync'], true, true],
  [['sync', 'sync'], true, true],
  [['sync', 'event'], true, false],
  [['event'], false, false],
  [['schedule'], false, false],
  [['onStartup'], false, false],
])('a run for %j is a Synchronization: %s, and nothing else: %s', async (types, isOne, isNothingElse) => {
  const { global } = await runtimes();
  const hookRun = { hook: global, reasons: reasonsOf(global, ...types), ...run('kubernetes') };
  expect([isSynchronization(hookRun), isOnlySynchronization(hookRun)]).toEqual([isOne, isNothingElse]);
});
