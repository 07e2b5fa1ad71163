import { expect, test } from 'vitest';
import { HookExit } from '../../test/support/hook-exit.ts';
import { type HookProcess, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { hookTask } from '../model/tasks.ts';
import { requestOperation } from '../requests/request-operation.ts';
import { triggerHook } from '../requests/trigger-hook.ts';
import { failedRunText } from '../status/unfinished-text.ts';
import { taskQueueViews } from './task-queue-view.ts';
import { unfinishedRuns } from './unfinished-runs.ts';

const settings = { exitCodes: { temporary: [75], permanent: [78] } };
const pods = { kind: 'Pod', name: 'pods', queue: 'own', executeHookOnSynchronization: false };
const HOOKS = {
  'web/a.sh': { kubernetes: [pods], settings },
  'web/b.sh': { kubernetes: [pods] },
};

/** Runs with this exit code until it is set to 0. */
function ending(lab: OperatorLab, hook: string, exitCode: number, retry?: object): { exitCode: number } {
  const state = { exitCode };
  lab.behaviours.set(hook, ({ write }: HookProcess) => {
    if (retry !== undefined && state.exitCode === 75) write('RETRY_PATH', retry);
    if (state.exitCode !== 0) throw new HookExit(state.exitCode, 'no route to the name server');
  });
  return state;
}

async function running(hooks: Readonly<Record<string, object>> = HOOKS): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], hooks);
  await lab.converge();
  lab.takeCalls();
  return lab;
}

async function emit(lab: OperatorLab, hook: string): Promise<void> {
  lab.emit(`web/${hook}/pods`);
  await lab.settle();
}

test('a run that is not done yet waits beside its queue, and other hooks go on', async () => {
  await using lab = await running();
  const hook = ending(lab, 'web/a.sh', 75, { after: '30s', reason: 'waiting for DNS' });
  await emit(lab, 'a.sh');
  await emit(lab, 'b.sh');
  expect(lab.takeCalls()).toEqual(['web/a.sh Event:pods', 'web/b.sh Event:pods']);
  expect(lab.tasks('own')).toEqual([]);
  expect(unfinishedRuns(lab.operator)).toEqual({
    waiting: [
      "hook web/a.sh runs again at 1970-01-01T00:00:30.000Z in queue own (contexts: 1): module hook 'a.sh' is not done yet: waiting for DNS",
    ],
    debounced: [],
    failed: [],
  });
  hook.exitCode = 0;
  await lab.pass(29_000, 1);
  expect(lab.takeCalls()).toEqual([]);
  await lab.pass(1_000, 1);
  expect(lab.takeCalls()).toEqual(['web/a.sh Event:pods']);
  expect(unfinishedRuns(lab.operator).waiting).toEqual([]);
  expect(lab.log.records.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
});

test('later events of the hook join the run that waits, in order and in one run', async () => {
  await using lab = await running();
  const hook = ending(lab, 'web/a.sh', 75);
  await emit(lab, 'a.sh');
  await emit(lab, 'a.sh');
  await emit(lab, 'a.sh');
  hook.exitCode = 0;
  await lab.pass(10_000, 1);
  expect(lab.takeCalls()).toEqual(['web/a.sh Event:pods', 'web/a.sh Event:pods+Event:pods+Event:pods']);
  expect(lab.backlog.heldBytes).toBe(0);
});

test('a request lets a run that waits go at once, in front of what is requested', async () => {
  await using lab = await running();
  lab.objects.set('web/a.sh/pods', []);
  const hook = ending(lab, 'web/a.sh', 75, { after: '1h' });
  await emit(lab, 'a.sh');
  hook.exitCode = 0;
  lab.takeCalls();
  const item = { object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', namespace: 'y' } } };
  const monitor = lab.monitors.get('web/a.sh/pods');
  if (monitor !== undefined) monitor.items = [item];
  triggerHook(lab.operator, { hook: 'a.sh', binding: 'pods', object: 'Pod/y/x' });
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['web/a.sh Event:pods+Event:pods']);
});

test('an abort of the module takes runs that wait, and the hook is synchronized later', async () => {
  await using lab = await running();
  ending(lab, 'web/a.sh', 75, { after: '1h' });
  await emit(lab, 'a.sh');
  requestOperation(lab.operator, 'web', 'abort');
  await lab.settle();
  expect(unfinishedRuns(lab.operator).waiting).toEqual([]);
  await lab.pass(3_600_000, 1);
  expect(lab.tasks('own')).toEqual([]);
});

test('a lifecycle hook that is not done yet is retried where it is, as its module waits for it', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1, settings } });
  const hook = ending(lab, 'web/a.sh', 75, { after: '30s', reason: 'waiting for DNS' });
  await lab.converge();
  const [main] = taskQueueViews(lab.operator, 1);
  expect(main).toMatchObject({ status: { type: 'delayed', until: '1970-01-01T00:00:30.000Z' } });
  expect(main?.tasks[0]).toMatchObject({ lastCode: 'HOOK_TEMPORARY' });
  hook.exitCode = 0;
  await lab.pass(30_000, 2);
  expect(lab.operator.registry.tracked.get('web' as never)?.isDeployed).toBe(true);
});

test('a run that failed permanently is dropped and shown, until a run for the next event succeeds', async () => {
  await using lab = await running();
  const hook = ending(lab, 'web/a.sh', 78);
  await emit(lab, 'a.sh');
  await lab.pass(60_000, 2);
  expect(lab.takeCalls()).toEqual(['web/a.sh Event:pods']);
  expect(lab.tasks('own')).toEqual([]);
  expect(unfinishedRuns(lab.operator).failed.map(failedRunText)).toEqual([
    "module web, module hook 'a.sh', binding 'pods' failed permanently at 1970-01-01T00:00:00.000Z and is not retried: module hook 'a.sh' failed permanently: no route to the name server; correct the cause, then `addon-operator hook trigger web/a.sh pods`, or wait for its next event",
  ]);
  expect(lab.journal.list({ hook: 'a.sh', limit: 1 }).runs).toMatchObject([
    { result: 'failed', code: 'HOOK_PERMANENT' },
  ]);
  hook.exitCode = 0;
  await emit(lab, 'a.sh');
  expect(unfinishedRuns(lab.operator).failed).toEqual([]);
});

test('a Synchronization that failed permanently fails its module for good, and is repeated on request', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ ...pods, executeHookOnSynchronization: true }], settings },
  });
  const hook = ending(lab, 'web/a.sh', 78);
  await lab.converge();
  const tracked = lab.operator.registry.tracked.get('web' as never);
  expect(tracked?.stall).toMatchObject({ code: 'HOOK_PERMANENT' });
  expect([lab.tasks('main'), lab.tasks('own')]).toEqual([[], []]);
  hook.exitCode = 0;
  requestOperation(lab.operator, 'web', 'reconcile');
  await lab.settle();
  expect(tracked?.stall).toBeUndefined();
  expect(tracked?.isDeployed).toBe(true);
});

test('a global beforeAll hook that failed permanently lets the converge go on, and runs in the next one', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': { beforeAll: 1, settings } });
  const hook = ending(lab, 'global/a.sh', 78);
  await lab.converge();
  expect(lab.operator.registry.tracked.get('web' as never)?.isDeployed).toBe(true);
  expect(unfinishedRuns(lab.operator).failed.map(failedRunText)[0]).toContain(
    'it runs again in the next converge',
  );
  hook.exitCode = 0;
  lab.startOver();
  await lab.settle();
  expect(unfinishedRuns(lab.operator).failed).toEqual([]);
});

test.each([
  ['max', { max: 2 }, 3],
  ['within', { within: '20s' }, 5],
  ['within, at its end', { within: '5s' }, 2],
])('the retries of a hook with retry.%s are used up', async (_limit, retry, runs) => {
  await using lab = await running({ 'web/a.sh': { kubernetes: [pods], settings: { retry } } });
  ending(lab, 'web/a.sh', 1);
  await emit(lab, 'a.sh');
  await lab.pass(5_000, 20);
  expect(lab.takeCalls()).toHaveLength(runs);
  expect(unfinishedRuns(lab.operator).failed.map(failedRunText)[0]).toContain('it is not retried any more');
  expect(lab.tasks('own')).toEqual([]);
});

test('retries that are used up count temporary failures, and a success gives all of them back', async () => {
  const retry = { max: 1 };
  await using lab = await running({ 'web/a.sh': { kubernetes: [pods], settings: { ...settings, retry } } });
  const hook = ending(lab, 'web/a.sh', 75);
  await emit(lab, 'a.sh');
  hook.exitCode = 0;
  await lab.pass(10_000, 1);
  hook.exitCode = 75;
  await emit(lab, 'a.sh');
  expect(unfinishedRuns(lab.operator)).toMatchObject({ waiting: [expect.any(String)], failed: [] });
  await lab.pass(10_000, 1);
  expect(unfinishedRuns(lab.operator)).toMatchObject({ waiting: [], failed: [expect.anything()] });
});

test('a run with `onExhausted: drop` is dropped with a warning and no failure that needs a person', async () => {
  const retry = { max: 0, onExhausted: 'drop' };
  await using lab = await running({ 'web/a.sh': { kubernetes: [pods], settings: { retry } } });
  ending(lab, 'web/a.sh', 1);
  await emit(lab, 'a.sh');
  expect(unfinishedRuns(lab.operator).failed).toEqual([]);
  expect(lab.log.records).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      msg: 'hook failed, its retries are used up: the run is dropped',
      code: 'HOOK_RETRIES_EXHAUSTED',
    }),
  );
});

test('an allowed failure of a hook with limited retries is no failure that needs a person', async () => {
  const binding = { ...pods, allowFailure: true };
  await using lab = await running({
    'web/a.sh': { kubernetes: [binding], settings: { retry: { max: 0 } } },
  });
  ending(lab, 'web/a.sh', 1);
  await emit(lab, 'a.sh');
  expect(unfinishedRuns(lab.operator).failed).toEqual([]);
  expect(lab.log.records.filter(({ code }) => code === 'HOOK_RETRIES_EXHAUSTED')).toEqual([]);
});

test('retries that are used up do not count against the run for the next event', async () => {
  await using lab = await running({
    'web/a.sh': { kubernetes: [pods], settings: { retry: { max: 1 } } },
  });
  ending(lab, 'web/a.sh', 1);
  await emit(lab, 'a.sh');
  await lab.pass(30_000, 1);
  expect(lab.takeCalls()).toHaveLength(2);
  await emit(lab, 'a.sh');
  await lab.pass(30_000, 1);
  expect(lab.takeCalls()).toHaveLength(2);
});

test('a run that is put off while others of the hook wait takes their place, in front of them', async () => {
  await using lab = await running();
  const { held } = lab.operator.router;
  const runtime = lab.runtimeOf('web/a.sh');
  const [binding] = runtime.hook.config.kubernetes;
  if (binding === undefined) throw new Error('the hook has no binding');
  const run = (key: string) =>
    hookTask({
      hook: runtime,
      binding: 'kubernetes',
      reasons: [{ type: 'event', binding, event: { watchEvent: 'Added', key, item: {} } }],
      allowFailure: false,
      trigger: 'test',
      activation: '',
    });
  held.hold([run('/newer')], 'own', { retryAfterMs: 10_000 });
  held.hold([run('/older')], 'own', { retryAfterMs: 20_000 });
  expect(held.all).toMatchObject([{ contexts: 2, dueAtMs: 20_000 }]);
  await lab.pass(10_000, 1);
  expect(lab.takeCalls()).toEqual([]);
  await lab.pass(10_000, 1);
  expect(lab.takeCalls()).toEqual(['web/a.sh Event:pods+Event:pods']);
});

test('nothing waits any more when all events of a run that waits are taken', async () => {
  await using lab = await running();
  ending(lab, 'web/a.sh', 75, { after: '1h' });
  await emit(lab, 'a.sh');
  const runtime = lab.runtimeOf('web/a.sh');
  const [binding] = runtime.hook.config.kubernetes;
  if (binding === undefined) throw new Error('the hook has no binding');
  const { held } = lab.operator.router;
  expect(held.takeEvents(runtime, binding, 'older')).toHaveLength(1);
  expect([held.all, lab.clock.pendingDelaysMs.includes(3_600_000)]).toEqual([[], false]);
});
