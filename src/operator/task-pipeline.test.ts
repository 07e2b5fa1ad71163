import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { Redactor } from '@addon-operator/masking/redactor';
import type { TaskOutcome } from '@addon-operator/task-queue';
import { expect, test } from 'vitest';
import { moduleFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { RestartRequest } from '../hook-runs/restart-hooks.ts';
import { RunAborts } from '../model/run-aborts.ts';
import { hookTask, type Task } from '../model/tasks.ts';
import { createDispatch } from './dispatch.ts';
import {
  type Attempt,
  abort,
  authorize,
  dispatch,
  lock,
  logAttempt,
  logFailure,
  pause,
  record,
  redact,
  rerouteIsolated,
  type Stage,
} from './task-pipeline.ts';

const SECRET = 'hunter22';
const success: TaskOutcome<Task> = { type: 'success' };
const failure: TaskOutcome<Task> = { type: 'retry', error: new Error('it is broken') };

const runOf = (module: string): Task => ({
  type: 'ModuleRun',
  module: name(module),
  doModuleStartup: false,
  isPartOfConverge: false,
  trigger: 'test',
  activation: '',
});
const deletionOf = (module: string): Task => ({
  type: 'ModuleDelete',
  module: name(module),
  trigger: 'test',
});
const crdsOf = (module: string): Task => ({
  type: 'ModuleEnsureCRDs',
  module: name(module),
  trigger: 'test',
});
const converge: Task = { type: 'ConvergeModules', event: 'ReloadAllModules', trigger: 'test' };

/** An attempt of a task that waits in a queue of the lab. */
function attemptIn(lab: OperatorLab, task: Task, signal = lab.abort.signal, queue = lab.main): Attempt {
  queue.append(task);
  const entry = queue.entries.at(-1);
  if (entry === undefined) throw new Error('the queue is empty');
  return { entry, queue, signal };
}

/** Runs one stage; `ran` says whether the stages after it were run. */
async function through(stage: Stage, attempt: Attempt, outcome: TaskOutcome<Task> = success) {
  let ran = false;
  const result = await stage(attempt, async () => {
    ran = true;
    return await Promise.resolve(outcome);
  });
  return { ran, result };
}

async function labOf(
  modules: Parameters<typeof operatorLab>[0],
  options: Parameters<typeof operatorLab>[2] = {},
) {
  const lab = await operatorLab(modules, { 'global/a.sh': { onStartup: 1 } }, options);
  const { registry, sources } = lab.operator;
  registry.setDiscovery(await sources.discover(registry.modules, registry.before, lab.stop.signal));
  return lab;
}

const globalRun = (lab: OperatorLab): Task =>
  hookTask({
    hook: lab.runtimeOf('global/a.sh'),
    binding: 'onStartup',
    reasons: [{ type: 'lifecycle', binding: 'onStartup' }],
    allowFailure: false,
    trigger: 'test',
    activation: '',
  });

test.each([
  {
    what: 'a task of a module that is not isolated',
    policy: 'isolate',
    isIsolated: false,
    outcome: success,
    ran: true,
    result: success,
    moved: [],
  },
  {
    what: 'a task of an isolated module',
    policy: 'isolate',
    isIsolated: true,
    outcome: success,
    ran: false,
    result: success,
    moved: ['ModuleRun:web'],
  },
  {
    what: 'a failure with module-failure-policy block',
    policy: 'block',
    isIsolated: false,
    outcome: failure,
    ran: true,
    result: failure,
    moved: [],
  },
  {
    what: 'a failure with module-failure-policy isolate',
    policy: 'isolate',
    isIsolated: false,
    outcome: failure,
    ran: true,
    result: success,
    moved: ['ModuleRun:web'],
  },
] as const)('rerouteIsolated: $what', async ({ policy, isIsolated, outcome, ran, result, moved }) => {
  await using lab = await labOf(['web'], { failurePolicy: policy });
  const own = lab.operator.queues.get('isolated_web');
  if (isIsolated) own.append(crdsOf('web'));
  const attempt = attemptIn(lab, runOf('web'));
  expect(await through(rerouteIsolated(lab.operator), attempt, outcome)).toEqual({ ran, result });
  const runs = own.entries.flatMap(({ task }) =>
    task.type === 'ModuleRun' ? [`ModuleRun:${task.module}`] : [],
  );
  expect(runs).toEqual(moved);
});

test.each([
  { what: 'success', outcome: success, expected: success },
  { what: 'a repeat', outcome: { type: 'repeat' }, expected: { type: 'repeat' } },
  { what: 'a failure without a secret', outcome: failure, expected: failure },
  {
    what: 'a failure with a secret',
    outcome: { type: 'retry', error: new Error(`the password ${SECRET} is wrong`), delayMs: 7 },
    expected: {
      type: 'retry',
      error: new OperatorError('INTERNAL', 'the password *** is wrong'),
      delayMs: 7,
    },
  },
] as const)('redact: $what', async ({ outcome, expected }) => {
  await using lab = await labOf(['web']);
  const redactor = new Redactor();
  redactor.add(SECRET);
  const { result } = await through(redact(redactor), attemptIn(lab, converge), outcome);
  expect(result).toEqual(expected);
});

test('redact comes after rerouteIsolated, so that a failure in a queue of its own shows no secret either', async () => {
  await using lab = await operatorLab(['db'], { 'db/a.sh': { beforeHelm: 1 } }, { failurePolicy: 'isolate' });
  lab.behaviours.set('db/a.sh', () => {
    throw new Error(`the password ${SECRET} is wrong`);
  });
  const redactor = new Redactor();
  redactor.add(SECRET);
  const handle = lab.handler({ redactor });
  const signals = { stop: lab.stop.signal, abort: lab.abort.signal };
  const workers = [lab.main.run(handle, signals)];
  lab.operator.router.queueConverge('OperatorStartup', 'test');
  await lab.settle();
  const isolated = lab.operator.queues.get('isolated_db');
  workers.push(isolated.run(handle, signals));
  await lab.settle();
  expect(isolated.entries.map(({ lastError }) => lastError)).toEqual([
    expect.stringContaining('the password *** is wrong'),
  ]);
  lab.stop.abort();
  await Promise.all(workers);
});

test.each([
  {
    what: 'a module run',
    taskOf: () => runOf('web'),
    message: 'Task failed, requeue it to retry after delay.',
  },
  {
    what: 'a run of a global hook',
    taskOf: globalRun,
    message: 'Global hook failed, requeue task to retry after delay.',
  },
])('logFailure: $what that throws is logged once and tried again', async ({ taskOf, message }) => {
  await using lab = await labOf(['web']);
  const error = new Error('it is broken');
  const attempt = attemptIn(lab, taskOf(lab));
  expect(await logFailure(lab.operator)(attempt, () => Promise.reject(error))).toEqual({
    type: 'retry',
    error,
  });
  const records = lab.log.records.filter(({ level }) => level === 'error');
  expect(records).toMatchObject([{ msg: message, queue: 'main' }]);
});

test('logFailure: an attempt that the daemon ends is not logged and not tried again', async () => {
  await using lab = await labOf(['web']);
  const ended = new AbortController();
  const attempt = attemptIn(lab, runOf('web'), ended.signal);
  ended.abort(new Error('the daemon stops'));
  await expect(logFailure(lab.operator)(attempt, () => Promise.reject(new Error('killed')))).rejects.toThrow(
    'the daemon stops',
  );
  expect(lab.log.records.filter(({ level }) => level === 'error')).toEqual([]);
});

const allow = { policy: 'keyring', verify: () => Promise.resolve() };

test.each([
  { what: 'a run of a module that is authorized', task: runOf('web'), authorization: allow, ran: true },
  { what: 'a run of a module that is refused', task: runOf('evil'), authorization: allow, ran: false },
  {
    what: 'a deletion of a module that is refused',
    task: deletionOf('evil'),
    authorization: allow,
    ran: false,
  },
  { what: 'a task of no module', task: converge, authorization: allow, ran: true },
  {
    what: 'a refused module where no policy is set',
    task: runOf('evil'),
    authorization: undefined,
    ran: true,
  },
])('authorize: $what', async ({ task, authorization, ran }) => {
  const evil = moduleFor('evil', 1, { refusal: { type: 'unauthorized', reason: 'it is not signed' } });
  await using lab = await labOf([evil, 'web'], { authorization });
  expect(await through(authorize(lab.operator), attemptIn(lab, task))).toEqual({ ran, result: success });
});

test.each([
  { what: 'a run of a paused module', task: runOf('web'), ran: false, deferred: ['web'] },
  { what: 'CRDs of a paused module', task: crdsOf('web'), ran: false, deferred: ['web'] },
  { what: 'a deletion of a paused module', task: deletionOf('web'), ran: true, deferred: [] },
  { what: 'a run of another module', task: runOf('db'), ran: true, deferred: [] },
  { what: 'a task of no module', task: converge, ran: true, deferred: [] },
])('pause: $what', async ({ task, ran, deferred }) => {
  await using lab = await labOf(['web', 'db']);
  lab.pauses.set('web', { reason: 'maintenance', untilMs: undefined, sinceMs: 0 });
  expect(await through(pause(lab.operator), attemptIn(lab, task))).toEqual({ ran, result: success });
  expect([...lab.operator.converge.deferredRuns]).toEqual(deferred);
});

test.each([
  { what: 'a converge', taskOf: () => converge, endLevel: 'info', counts: true },
  { what: 'a module run', taskOf: () => runOf('web'), endLevel: 'debug', counts: true },
  {
    what: 'a run of a hook, which counts its waiting itself',
    taskOf: globalRun,
    endLevel: 'debug',
    counts: false,
  },
])('logAttempt: $what', async ({ taskOf, endLevel, counts }) => {
  await using lab = await labOf(['web']);
  const attempt = attemptIn(lab, taskOf(lab));
  await lab.clock.advance(3_000);
  expect(await through(logAttempt(lab.operator), attempt)).toEqual({ ran: true, result: success });
  const flow = lab.log.records.filter((record) => record['task.flow'] !== 'add');
  expect(flow.map((record) => [record['task.flow'], record['level']])).toEqual([
    ['start', 'info'],
    ['end', endLevel],
  ]);
  const waited = /task_wait_in_queue_seconds_total\{.*\} 3$/m.test(await lab.operator.metrics.scrape());
  expect(waited).toBe(counts);
});

test.each([
  { what: 'runs of one module', first: runOf('web'), second: runOf('web'), isHeld: true },
  {
    what: 'a run and a deletion of one module',
    first: runOf('web'),
    second: deletionOf('web'),
    isHeld: true,
  },
  { what: 'CRDs and a run of one module', first: crdsOf('web'), second: runOf('web'), isHeld: true },
  { what: 'runs of two modules', first: runOf('web'), second: runOf('db'), isHeld: false },
  { what: 'a run and a task of no module', first: runOf('web'), second: converge, isHeld: false },
])('lock: of $what the second one waits: $isHeld', async ({ first, second, isHeld }) => {
  await using lab = await labOf(['web', 'db']);
  const stage = lock();
  const { promise, resolve } = Promise.withResolvers<TaskOutcome<Task>>();
  const running = stage(attemptIn(lab, first), () => promise);
  const held = await through(stage, attemptIn(lab, second));
  expect(held).toMatchObject(isHeld ? { ran: false, result: { type: 'repeat' } } : { ran: true });
  let isFree = !isHeld;
  if (held.result.type === 'repeat') void held.result.when?.then(() => (isFree = true));
  resolve(success);
  expect(await running).toBe(success);
  await lab.settle();
  expect(isFree).toBe(true);
  expect(await through(stage, attemptIn(lab, second))).toEqual({ ran: true, result: success });
});

test('lock: is released when an attempt throws', async () => {
  await using lab = await labOf(['web']);
  const stage = lock();
  const attempt = attemptIn(lab, runOf('web'));
  await expect(stage(attempt, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await through(stage, attempt)).toEqual({ ran: true, result: success });
});

test.each([
  { what: 'a run of the module is repeated', task: runOf('web'), by: 'user', result: { type: 'repeat' } },
  {
    what: 'a deletion of the module is repeated',
    task: deletionOf('web'),
    by: 'user',
    result: { type: 'repeat' },
  },
  { what: 'a run of another module goes on', task: runOf('db'), by: 'user', result: success },
  { what: 'a task of no module goes on', task: converge, by: 'user', result: success },
  { what: 'the daemon ends a run', task: runOf('web'), by: 'daemon', result: 'the daemon stops' },
])('abort: $what', async ({ task, by, result }) => {
  await using lab = await labOf(['web', 'db']);
  const aborts = new RunAborts();
  const daemon = new AbortController();
  const outcome = abort({ aborts })(attemptIn(lab, task, daemon.signal), async ({ signal }) => {
    if (by === 'user') aborts.abort(name('web'));
    else daemon.abort(new Error('the daemon stops'));
    signal.throwIfAborted();
    return await Promise.resolve(success);
  });
  expect(await outcome.catch(messageOf)).toEqual(result);
});

test('abort: a run whose hook has changed is repeated, but not when the daemon ends it', async () => {
  await using lab = await labOf(['web']);
  const daemon = new AbortController();
  const stage = abort({ aborts: new RunAborts() });
  const attempt = attemptIn(lab, runOf('web'), daemon.signal);
  const restart = () => Promise.reject(new RestartRequest('web/a.sh', undefined));
  expect(await stage(attempt, restart)).toEqual({ type: 'repeat' });
  daemon.abort(new Error('the daemon stops'));
  await expect(stage(attempt, restart)).rejects.toThrow('has changed while it was running');
});

test('record: an attempt that the daemon ends is recorded as aborted', async () => {
  await using lab = await labOf(['web']);
  const runs: ReturnType<typeof lab.journal.attemptIn>[] = [];
  const ended = record(lab.operator)(attemptIn(lab, runOf('web')), () => {
    runs.push(lab.journal.attemptIn('main'));
    return Promise.reject(new Error('the daemon stops'));
  });
  await expect(ended).rejects.toThrow('the daemon stops');
  expect(runs).toMatchObject([{ end: { result: 'aborted' } }]);
});

test('dispatch calls the handler of the task', async () => {
  await using lab = await labOf(['web']);
  const { ran } = await through(
    dispatch(createDispatch(lab.operator.handlerParts)),
    attemptIn(lab, { type: 'ModulePurge', release: 'old', trigger: 'test' }),
  );
  expect(ran).toBe(false);
  expect(lab.takeCalls()).toContain('uninstall old');
});

test('a task passes the stages in order: a refused module is not paused, a paused one takes no lock', async () => {
  const evil = moduleFor('evil', 1, { refusal: { type: 'unauthorized', reason: 'it is not signed' } });
  await using lab = await labOf([evil, 'web'], { authorization: allow });
  for (const module of ['evil', 'web'])
    lab.pauses.set(module, { reason: 'maintenance', untilMs: undefined, sinceMs: 0 });
  const handle = lab.handler();
  for (const module of ['evil', 'web', 'web']) {
    const { entry, queue, signal } = attemptIn(lab, runOf(module));
    expect(await handle(entry, queue, signal)).toEqual(success);
  }
  expect([...lab.operator.converge.deferredRuns]).toEqual(['web']);
  expect(lab.log.records.map(({ msg }) => msg)).not.toContain("ModuleRun task done, result is 'Success'");
});

test('a failure in an orderly stop is no error of the task', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  lab.obstacles.set('deploy web', () => {
    lab.stop.abort();
    throw new OperatorError('ABORTED', 'helm is not started: the daemon is stopping');
  });
  await lab.converge();
  expect(lab.log.records.filter(({ level }) => level === 'error')).toEqual([]);
  expect(lab.operator.registry.tracked.get(name('web'))?.history.lastError).toBe('');
});
