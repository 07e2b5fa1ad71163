import { array, assert, asyncProperty, constantFrom, integer, nat, record } from 'fast-check';
import { expect, test } from 'vitest';
import { HookExit } from '../../test/support/hook-exit.ts';
import { failing, type HookProcess, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { operatorGauges } from '../views/daemon-metrics.ts';
import { taskQueueViews } from './task-queue-view.ts';
import { unfinishedRuns } from './unfinished-runs.ts';

const HOOK = 'web/a.sh';
const MODULE_HOOK = { kind: 'Pod', name: 'pods', executeHookOnSynchronization: false, jqFilter: '.' };

async function running(queue: object, binding: object = {}, hook: object = {}): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], {
    [HOOK]: { kubernetes: [{ ...MODULE_HOOK, queue: { name: 'own', ...queue }, ...binding }], ...hook },
  });
  await lab.converge();
  lab.takeCalls();
  return lab;
}

function emit(lab: OperatorLab, key: string, filterResult: unknown = key, object: object = {}): void {
  const item = { object, filterResult } as never;
  lab.monitors.get(`${HOOK}/pods`)?.emit({ watchEvent: 'Modified', key, item });
}

function resultsOf({ contexts }: HookProcess): readonly unknown[] {
  return contexts.map((context) => context['filterResult']);
}

/** Has the hook note what it gets, and take this long. */
function noting(lab: OperatorLab, runs: unknown[], ms: number): void {
  lab.behaviours.set(HOOK, async (process) => {
    runs.push(resultsOf(process));
    await lab.clock.sleep(ms, new AbortController().signal);
  });
}

test('runs of one object are one after another, and those of as many objects as parallel says run at a time', async () => {
  await using lab = await running({ parallel: 2 });
  const runs: unknown[] = [];
  noting(lab, runs, 1_000);
  for (const key of ['a/1', 'b/1', 'c/1', 'a/1']) {
    emit(lab, key);
    await lab.settle();
  }
  expect(runs).toEqual([['a/1'], ['b/1']]);
  await lab.pass(1_000, 1);
  expect(runs).toEqual([['a/1'], ['b/1'], ['c/1'], ['a/1']]);
});

test.each([
  ['namespace', [['a/1', 'a/2'], ['b/1'], ['/cluster']]],
  ['.spec.node', [['a/1', 'b/1', '/cluster'], ['a/2']]],
])('runs with the key %s', async (key, expected) => {
  await using lab = await running({ key });
  const runs: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  lab.behaviours.set(HOOK, async () => await gate.promise);
  const node = (name: string): object => ({ spec: { node: name } });
  emit(lab, 'a/0', 'first', node('x'));
  await lab.settle();
  for (const [name, of] of [
    ['a/1', 'x'],
    ['b/1', 'x'],
    ['/cluster', 'x'],
    ['a/2', 'y'],
  ] as const)
    emit(lab, name, name, node(of));
  noting(lab, runs, 0);
  gate.resolve();
  await lab.pass(5_000, 3);
  expect(new Set(runs)).toEqual(new Set(expected));
});

test('a key that fails waits alone, and the view says what waits for what', async () => {
  await using lab = await running({ parallel: 1 });
  lab.behaviours.set(HOOK, (process) => {
    if (resultsOf(process).includes('bad')) return failing(process);
    return lab.clock.sleep(1_000, new AbortController().signal);
  });
  emit(lab, 'a/1', 'bad');
  await lab.settle();
  emit(lab, 'b/1');
  emit(lab, 'c/1');
  await lab.settle();
  const views = taskQueueViews(lab.operator, 10).filter(({ name }) => name.startsWith('own'));
  expect(views).toMatchObject([
    { name: 'own', keys: 3, length: 0, status: { type: 'waiting' } },
    {
      name: 'own[a/1]',
      keys: 0,
      status: { type: 'delayed' },
      tasks: [{ failures: 1, waits: [{ for: 'retry' }] }],
    },
    { name: 'own[b/1]', status: { type: 'running' }, tasks: [{ waits: [] }] },
    { name: 'own[c/1]', status: { type: 'repeating' }, tasks: [{ waits: [{ for: 'keys' }] }] },
  ]);
  const gauge = operatorGauges(lab.operator as never)
    .queues()
    .find(({ queue }) => queue === 'own');
  expect(gauge).toMatchObject({ queue: 'own', length: 3, head: { failures: 1 } });
});

test('a list of queues has the first hundred keys, and those that run among them', async () => {
  await using lab = await running({ parallel: 1 });
  const gate = Promise.withResolvers<void>();
  lab.behaviours.set(HOOK, () => gate.promise);
  emit(lab, 'z/last');
  await lab.settle();
  for (let number = 0; number < 150; number += 1) emit(lab, `a/${number}`);
  await lab.settle();
  const views = taskQueueViews(lab.operator, 1).filter(({ name }) => name.startsWith('own'));
  expect(views[0]).toMatchObject({ name: 'own', keys: 151 });
  expect(views).toHaveLength(101);
  expect(views.at(-1)).toMatchObject({ name: 'own[z/last]', status: { type: 'running' } });
  gate.resolve();
  await lab.pass(1_000, 5);
  expect(lab.operator.queues.all.filter(({ lane }) => lane !== undefined)).toEqual([]);
});

test('a key that is not done yet waits beside its queue, alone', async () => {
  const settings = { exitCodes: { temporary: [75] } };
  await using lab = await running({ parallel: 1 }, {}, { settings });
  const runs: unknown[] = [];
  let exitCode = 75;
  lab.behaviours.set(HOOK, (process) => {
    if (resultsOf(process).includes('a/1') && exitCode !== 0) throw new HookExit(exitCode);
    runs.push(resultsOf(process));
  });
  for (const key of ['a/1', 'b/1', 'a/1']) {
    emit(lab, key);
    await lab.settle();
  }
  expect(runs).toEqual([['b/1']]);
  expect(unfinishedRuns(lab.operator).waiting).toEqual([
    expect.stringContaining('in queue own[a/1] (contexts: 2)'),
  ]);
  exitCode = 0;
  await lab.pass(10_000, 1);
  expect(runs).toEqual([['b/1'], ['a/1', 'a/1']]);
});

test('events are debounced for each key', async () => {
  await using lab = await running({ key: 'namespace' }, { debounce: { after: '2s' } });
  const runs: unknown[] = [];
  noting(lab, runs, 0);
  emit(lab, 'a/1');
  await lab.pass(1_500, 1);
  emit(lab, 'b/1');
  await lab.pass(500, 1);
  expect(runs).toEqual([['a/1']]);
  await lab.pass(1_500, 1);
  expect(runs).toEqual([['a/1'], ['b/1']]);
});

test('what waits for keys is dropped with its hook', async () => {
  await using lab = await running({ parallel: 1 });
  const runs: unknown[] = [];
  noting(lab, runs, 1_000);
  for (const key of ['a/1', 'b/1', 'c/1']) emit(lab, key);
  await lab.settle();
  lab.operator.router.dropTasksOf([lab.runtimeOf(HOOK)]);
  await lab.pass(1_000, 5);
  expect(runs).toEqual([['a/1']]);
  expect([lab.backlog.heldBytes, lab.operator.queues.all.filter(({ lane }) => lane)]).toEqual([0, []]);
});

const anySteps = array(
  record({
    key: constantFrom('a/1', 'a/2', 'b/1', 'c/1'),
    does: constantFrom('change', 'change', 'change', 'break', 'mend', 'postpone'),
    waitMs: nat({ max: 4_000 }),
  }),
  { minLength: 1, maxLength: 30 },
);

test('each event of a key reaches the hook once, in order and with none of another key, in any history', async () => {
  await assert(
    asyncProperty(anySteps, integer({ min: 1, max: 3 }), async (steps, parallel) => {
      const settings = { exitCodes: { temporary: [75] } };
      await using lab = await running({ key: 'namespace', parallel }, {}, { settings });
      const emitted: string[] = [];
      const seen: string[] = [];
      const wrong: string[] = [];
      const active = new Set<string>();
      let exitCode = 0;
      lab.behaviours.set(HOOK, async (process) => {
        const results = resultsOf(process).map(String);
        const [key = '', ...others] = new Set(results.map(namespaceOf));
        if (others.length > 0) wrong.push(`a run of ${key} and ${others.join()}`);
        if (active.has(key)) wrong.push(`two runs of ${key}`);
        active.add(key);
        if (active.size > parallel) wrong.push(`${active.size} runs`);
        const code = exitCode;
        await lab.clock.sleep(500, new AbortController().signal);
        active.delete(key);
        if (code !== 0) throw new HookExit(code);
        seen.push(...results);
      });
      for (const [number, { key, does, waitMs }] of steps.entries()) {
        if (does === 'change') {
          emitted.push(`${key} ${number}`);
          emit(lab, key, `${key} ${number}`);
        }
        if (does === 'break') exitCode = 1;
        if (does === 'postpone') exitCode = 75;
        if (does === 'mend') exitCode = 0;
        await lab.pass(waitMs, 1);
      }
      exitCode = 0;
      await lab.pass(60_000, 4);
      await lab.pass(1_000, 40);
      expect(wrong).toEqual([]);
      expect(Object.groupBy(seen, namespaceOf)).toEqual(Object.groupBy(emitted, namespaceOf));
      expect(lab.operator.queues.all.filter(({ lane }) => lane !== undefined)).toEqual([]);
      expect(unfinishedRuns(lab.operator)).toEqual({ waiting: [], debounced: [], failed: [] });
      expect(lab.backlog.heldBytes).toBe(0);
    }),
    { numRuns: 40 },
  );
}, 60_000);

function namespaceOf(text: string): string {
  return text.slice(0, text.indexOf('/'));
}
