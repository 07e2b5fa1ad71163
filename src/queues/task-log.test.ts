import { TaskQueue } from '@addon-operator/task-queue';
import { expect, test } from 'vitest';
import { settle } from '../../test/support/fake-clock.ts';
import { hookFor, name, operatorLab } from '../../test/support/operator-lab.ts';
import type { Task } from '../model/tasks.ts';
import { addMessage, endMessage, flowFields, logAdded, startMessage } from './task-log.ts';

const OPERATOR_STARTUP = { trigger: 'Operator-Startup', activation: 'OperatorStartup' };
const MODULE_RUN: Task = {
  type: 'ModuleRun',
  module: name('web'),
  doModuleStartup: true,
  isPartOfConverge: true,
  ...OPERATOR_STARTUP,
};

async function hookRuns(): Promise<readonly Task[]> {
  const { operator } = await operatorLab(['web']);
  const kubernetes = [{ kind: 'Pod', name: 'pods' }];
  const hook = operator.bindings.createRuntime(await hookFor('global/a.sh', { kubernetes }));
  const [pods] = hook.hook.config.kubernetes;
  if (pods === undefined) throw new Error('no binding');
  const run = { hook, allowFailure: false, ...OPERATOR_STARTUP };
  return [
    {
      ...run,
      type: 'GlobalHookRun',
      binding: 'beforeAll',
      reasons: [{ type: 'lifecycle', binding: 'beforeAll' }],
    },
    {
      ...run,
      type: 'GlobalHookRun',
      binding: 'kubernetes',
      reasons: [{ type: 'synchronization', binding: pods }],
    },
    {
      ...run,
      type: 'GlobalHookRun',
      binding: 'kubernetes',
      reasons: [{ type: 'event', binding: pods, event: { watchEvent: 'Added', key: '/a', item: {} } }],
    },
  ];
}

test('startMessage() says what a task is for and what it was caused by', async () => {
  const cause = 'trigger is Operator-Startup';
  expect((await hookRuns()).map((task) => startMessage(task, 'startup'))).toEqual([
    `GlobalHookRun task for beforeAll binding, ${cause}`,
    `GlobalHookRun task for Synchronization of 'kubernetes/pods' binding, ${cause}`,
    `GlobalHookRun task for 'kubernetes/pods' binding, ${cause}`,
  ]);
  expect(startMessage(MODULE_RUN, 'startup')).toBe(
    `ModuleRun task for module 'web', phase 'Startup' with doModuleStartup, ${cause}`,
  );
  expect(startMessage({ ...MODULE_RUN, doModuleStartup: false }, 'helm')).toBe(
    `ModuleRun task for module 'web', phase 'CanRunHelm', ${cause}`,
  );
  expect(startMessage({ type: 'ConvergeModules', event: 'OperatorStartup', trigger: 't' }, 'startup')).toBe(
    'ConvergeModules task, trigger is t',
  );
});

test('endMessage() reports the result in the words of the contract', () => {
  expect((['success', 'retry', 'repeat'] as const).map((type) => endMessage(MODULE_RUN, type))).toEqual([
    "ModuleRun task done, result is 'Success'",
    "ModuleRun task done, result is 'Fail'",
    "ModuleRun task done, result is 'Repeat'",
  ]);
});

test('flowFields() name the task, its queue, and what it belongs to', async () => {
  const [beforeAll = MODULE_RUN] = await hookRuns();
  const entry = { id: 7, queuedAtMs: 0, failures: 0, isFailing: false, lastError: '' };
  const common = { 'task.id': 7, 'task.flow': 'start', queue: 'main', 'event.type': 'OperatorStartup' };
  expect(flowFields({ ...entry, task: beforeAll }, 'main', 'start')).toEqual({
    ...common,
    binding: 'beforeAll',
    'binding.name': 'beforeAll',
    'hook.type': 'global',
    hook: 'a.sh',
  });
  expect(flowFields({ ...entry, task: MODULE_RUN }, 'main', 'start')).toEqual({
    ...common,
    binding: 'ModuleRun',
    module: 'web',
  });
});

test('flowFields() of a run for an event name binding and event, and what led to the task', async () => {
  const [, synchronization = MODULE_RUN, event = MODULE_RUN] = await hookRuns();
  const entry = { id: 1, queuedAtMs: 0, failures: 0, isFailing: false, lastError: '' };
  expect(flowFields({ ...entry, task: synchronization }, 'main', 'start')).toMatchObject({
    binding: 'kubernetesSynchronization',
    'binding.name': 'pods',
  });
  expect(flowFields({ ...entry, task: event }, 'main', 'start')).toMatchObject({
    binding: 'kubernetes',
    'binding.name': 'pods',
    watchEvent: 'Added',
  });
  const triggeredBy = { hook: 'b.sh', binding: 'kubernetes', bindingName: 'pods', watchEvent: 'Added' };
  const task: Task = {
    type: 'ConvergeModules',
    event: 'GlobalValuesChanged',
    trigger: 't',
    eventId: 'e-1',
    triggeredBy,
  };
  expect(flowFields({ ...entry, task }, 'main', 'add')).toEqual({
    'task.id': 1,
    'task.flow': 'add',
    queue: 'main',
    binding: 'ConvergeModules',
    'event.type': 'GlobalValuesChanged',
    'event.id': 'e-1',
    'event.triggered-by.hook': 'b.sh',
    'event.triggered-by.binding': 'kubernetes',
    'event.triggered-by.binding.name': 'pods',
    'event.triggered-by.watchEvent': 'Added',
  });
});

test('addMessage() says where a task was put', () => {
  expect(
    (['head', 'append', 'after'] as const).map((place) => addMessage(place, MODULE_RUN, 'helm')),
  ).toEqual(
    ['head', 'append', 'after'].map(
      (place) =>
        `${place} task ModuleRun for module 'web', phase 'CanRunHelm' with doModuleStartup, trigger is Operator-Startup`,
    ),
  );
});

test('logAdded() has one record for events of one binding that are queued one after the other', async () => {
  const { operator, log, clock } = await operatorLab([]);
  const kubernetes = ['pods', 'nodes'].map((binding) => ({ kind: 'Pod', name: binding }));
  const runtimes = await Promise.all(
    [{ kubernetes }, { kubernetes }].map(async (config, index) =>
      operator.bindings.createRuntime(await hookFor(`global/${index}.sh`, config)),
    ),
  );
  const queue: TaskQueue<Task> = new TaskQueue<Task>({
    name: 'own',
    clock,
    random: () => 0,
    onAdd: (...added) => logAdded({ log: log.logger, registry: operator.registry }, queue, ...added),
  });
  const append = (hookIndex: number, bindingIndex: number): void => {
    const hook = runtimes[hookIndex];
    const binding = hook?.hook.config.kubernetes[bindingIndex];
    if (hook === undefined || binding === undefined) throw new Error('no binding');
    const event = { watchEvent: 'Added', key: '/a', item: {} } as const;
    const reasons = [{ type: 'event', binding, event }] as const;
    queue.append({
      ...OPERATOR_STARTUP,
      type: 'GlobalHookRun',
      hook,
      binding: 'kubernetes',
      reasons,
      allowFailure: false,
    });
  };
  for (const [hook, binding] of [
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 1],
    [0, 1],
    [1, 1],
    [1, 1],
    [0, 1],
  ] as const)
    append(hook, binding);
  const added = log.records.filter((record) => record['queue'] === 'own');
  expect(added.map((record) => [record['task.id'], record['hook'], record['binding.name']])).toEqual([
    [1, '0.sh', 'pods'],
    [4, '0.sh', 'nodes'],
    [6, '1.sh', 'nodes'],
    [8, '0.sh', 'nodes'],
  ]);
});

test('logAdded() has a record for an event that is queued behind a running task', async () => {
  const { operator, log, clock } = await operatorLab([]);
  const hook = operator.bindings.createRuntime(
    await hookFor('global/a.sh', { kubernetes: [{ kind: 'Pod', name: 'pods' }] }),
  );
  const [binding] = hook.hook.config.kubernetes;
  if (binding === undefined) throw new Error('no binding');
  const queue: TaskQueue<Task> = new TaskQueue<Task>({
    name: 'own',
    clock,
    random: () => 0,
    onAdd: (...added) => logAdded({ log: log.logger, registry: operator.registry }, queue, ...added),
  });
  const event = { watchEvent: 'Added', key: '/a', item: {} } as const;
  const reasons = [{ type: 'event', binding, event }] as const;
  const task: Task = {
    ...OPERATOR_STARTUP,
    type: 'GlobalHookRun',
    hook,
    binding: 'kubernetes',
    reasons,
    allowFailure: false,
  };
  const stop = new AbortController();
  const gate = Promise.withResolvers<void>();
  const ended = queue.run(
    async () => {
      await gate.promise;
      return { type: 'success' };
    },
    { stop: stop.signal, abort: stop.signal },
  );
  queue.append(task);
  await settle();
  queue.append(task);
  queue.append(task);
  const added = log.records.filter((record) => record['queue'] === 'own');
  expect(added.map((record) => record['task.id'])).toEqual([1, 2]);
  gate.resolve();
  stop.abort();
  await ended;
});
