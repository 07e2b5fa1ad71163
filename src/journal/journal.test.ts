import { traceIdOf } from '@addon-operator/base/trace-id';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { RUN_START } from '../../test/support/run-start.ts';
import { Journal, type JournalLimits } from './journal.ts';
import type { RunStart } from './run.ts';

function start(fields: Partial<RunStart> = {}): RunStart {
  return { ...RUN_START, taskId: 'main/1', trigger: 'start', eventId: 'e1', ...fields };
}

function journalWith(limits: Partial<JournalLimits> = {}, redact = (text: string) => text) {
  const clock = new FakeClock();
  return { clock, journal: new Journal({ clock, limits, redact }) };
}

test('a run is shown with its times, phases, result and error', async () => {
  const { clock, journal } = journalWith();
  await clock.advance(1_000);
  const run = journal.begin(start());
  journal.enterPhase('main', 'beforeHelm');
  await clock.advance(300);
  journal.enterPhase('main', 'helm');
  await clock.advance(700);
  expect(journal.list({ limit: 1 }).runs[0]).toMatchObject({ result: 'running', endedAt: null });
  journal.end(run, { result: 'failed', error: 'no chart', code: 'HELM_FAILED' });
  expect(journal.list({ limit: 1 }).runs[0]).toEqual({
    id: '1',
    isOfEarlierStart: false,
    parent: null,
    eventId: 'e1',
    traceId: traceIdOf('', 'e1'),
    queue: 'main',
    taskId: 'main/1',
    type: 'ModuleRun',
    module: 'web',
    hook: '',
    binding: '',
    bindings: [],
    exitCode: null,
    signal: '',
    command: '',
    trigger: 'start',
    triggeredBy: null,
    attempt: 1,
    queuedAt: '1970-01-01T00:00:00.000Z',
    startedAt: '1970-01-01T00:00:01.000Z',
    endedAt: '1970-01-01T00:00:02.000Z',
    waitMs: 1_000,
    durationMs: 1_000,
    result: 'failed',
    error: 'no chart',
    code: 'HELM_FAILED',
    cpuMs: null,
    maxRssBytes: null,
    contexts: 0,
    phases: [
      { name: 'beforeHelm', ms: 300 },
      { name: 'helm', ms: 700 },
    ],
    patches: { values: 0, objects: 0 },
    outputLength: 0,
  });
});

test('the runs of a hook are found by its name, and by that with its module', () => {
  const { journal } = journalWith();
  for (const module of ['web', 'db']) journal.begin(start({ module, hook: 'hooks/a.sh' }));
  const modules = (hook: string) => journal.list({ limit: 9, hook }).runs.map(({ module }) => module);
  expect(modules('hooks/a.sh')).toEqual(['db', 'web']);
  expect(modules('web/hooks/a.sh')).toEqual(['web']);
  expect(modules('a.sh')).toEqual([]);
});

test('runs are filtered, and listed page by page from the newest to the oldest', () => {
  const { journal } = journalWith();
  for (let number = 1; number <= 5; number += 1) {
    const run = journal.begin(start({ taskId: `main/${number}`, module: number % 2 === 0 ? 'db' : 'web' }));
    journal.end(run, { result: number === 5 ? 'failed' : 'success' });
  }
  const ids = (query: object) => journal.list({ limit: 2, ...query }).runs.map(({ id }) => id);
  expect(journal.list({ limit: 2 }).next).toBe('4');
  expect(ids({})).toEqual(['5', '4']);
  expect(ids({ before: 4 })).toEqual(['3', '2']);
  expect(journal.list({ limit: 5, before: 3 })).toMatchObject({
    runs: [{ id: '2' }, { id: '1' }],
    next: null,
  });
  expect(ids({ module: 'db' })).toEqual(['4', '2']);
  expect(ids({ result: 'failed' })).toEqual(['5']);
  expect(ids({ event: 'other' })).toEqual([]);
});

test('the details lead from the event over the attempts to what a run led to', async () => {
  const { clock, journal } = journalWith();
  const hook = { type: 'GlobalHookRun', hook: 'g.sh', binding: 'kubernetes', module: '', queue: 'own' };
  const first = journal.begin(start({ ...hook, taskId: 'own/1' }));
  journal.end(first, { result: 'failed', error: 'no' });
  await clock.advance(5_000);
  const second = journal.begin(start({ ...hook, taskId: 'own/1', attempt: 2 }));
  await clock.advance(10);
  const triggeredBy = { hook: 'g.sh', binding: 'kubernetes' };
  const queuedMs = clock.steadyMs();
  journal.end(second, { result: 'success' });
  const module = journal.begin(start({ taskId: 'main/7', triggeredBy, queuedMs }));
  const below = journal.beginHook(start({ taskId: '', type: 'HookRun', hook: 'a.sh', queuedMs }));
  journal.end(below, { result: 'success' });
  journal.end(module, { result: 'success' });
  const other = journal.begin(start({ eventId: 'e2', taskId: 'main/8', queuedMs }));
  expect(journal.details(below.id)).toMatchObject({
    parent: '3',
    cause: [{ id: '1' }, { id: '2' }, { id: '3' }],
    effects: [],
  });
  expect(journal.details(first.id)).toMatchObject({
    cause: [],
    effects: [
      { id: '2', causedBy: '1' },
      { id: '3', causedBy: '2' },
      { id: '4', causedBy: '3' },
    ],
  });
  expect(journal.details(other.id)).toMatchObject({ cause: [], effects: [] });
  expect(journal.details(99)).toBeUndefined();
});

test('the oldest runs go first, but never one that goes on', () => {
  const { journal } = journalWith({ runs: 3 });
  const first = journal.begin(start({ queue: 'slow', taskId: 'slow/1' }));
  for (let number = 0; number < 5; number += 1) journal.end(journal.begin(start()), { result: 'success' });
  expect(journal.list({ limit: 9 }).runs.map(({ id }) => id)).toEqual(['6', '5', '1']);
  journal.end(first, { result: 'success' });
  expect(journal.list({ limit: 9 }).runs.map(({ id }) => id)).toEqual(['6', '5', '1']);
});

test('the last results of a module are known when their runs are forgotten', async () => {
  const { clock, journal } = journalWith({ runs: 2 });
  for (let count = 0; count < 30; count += 1)
    journal.end(journal.begin(start({ module: 'api' })), { result: count < 25 ? 'success' : 'failed' });
  await clock.advance(2_000);
  for (const result of ['repeat', 'success', 'success', 'success'] as const)
    journal.end(journal.begin(start({ queuedMs: 2_000 })), { result });
  journal.end(journal.begin(start({ type: 'ModuleHookRun', module: 'api' })), { result: 'aborted' });
  const api = { startedAt: new Date(0).toISOString(), durationMs: 0, result: 'failed' };
  const web = { startedAt: new Date(2_000).toISOString(), durationMs: 0, result: 'success' };
  expect(Object.fromEntries(journal.byModule())).toEqual({
    api: { last: api, recent: `${'s'.repeat(15)}fffff` },
    web: { last: web, recent: 'sss' },
  });
});

test('runs and outputs stay within their memory', () => {
  const { journal } = journalWith({ runCharacters: 20_000, outputCharacters: 200_000 });
  for (let number = 0; number < 100; number += 1) {
    const run = journal.begin(start());
    for (let line = 0; line < 100; line += 1) journal.print(run, 'x'.repeat(1_000));
    journal.end(run, { result: 'failed', error: 'e'.repeat(10_000) });
    expect(journal.size.runs).toBeLessThanOrEqual(20_000);
    expect(journal.size.outputs).toBeLessThanOrEqual(200_000);
  }
  const kept = journal.list({ limit: 100 }).runs;
  expect(kept.map(({ id }) => id)).toEqual(['100', '99', '98', '97']);
  expect(kept[0]?.error).toHaveLength(4_096);
  expect(journal.details(100)?.output.head).not.toBe('');
  expect(journal.details(97)?.output).toEqual({ head: '', tail: '', cut: 0 });
});

test('errors and outputs are kept without secrets', () => {
  const { journal } = journalWith({}, (text) => text.replaceAll('hunter2', '***'));
  const run = journal.begin(start());
  journal.print(run, 'password hunter2');
  journal.end(run, { result: 'failed', error: 'hunter2 is wrong' });
  expect(journal.details(run.id)).toMatchObject({
    error: '*** is wrong',
    output: { head: 'password ***\n' },
  });
});

test('runs of an event are in one trace, those that begin 10 minutes after it in traces of their own', async () => {
  const clock = new FakeClock();
  const journal = new Journal({ clock, bootId: 'boot' });
  const first = journal.begin(start({ eventMs: 0 }));
  const hook = journal.beginHook(start({ eventMs: 0 }));
  journal.end(hook, { result: 'success' });
  journal.end(first, { result: 'failed' });
  await clock.advance(600_001);
  const late = journal.begin(start({ eventMs: 0, attempt: 2 }));
  const below = journal.beginHook(start({ eventMs: 0 }));
  const ids = [first, hook, late, below].map((run) => journal.traceIdOf(run));
  expect(ids.slice(0, 2)).toEqual([traceIdOf('boot', 'e1'), traceIdOf('boot', 'e1')]);
  expect(ids[2]).not.toBe(ids[0]);
  expect(ids[3]).toBe(ids[2]);
  expect(journal.eventOf(ids[2] ?? '')).toBe('e1');
  expect(journal.event('e1')?.runs.map(({ id, causedBy }) => [id, causedBy])).toEqual([
    ['1', null],
    ['2', '1'],
    ['3', '1'],
    ['4', '3'],
  ]);
});

test('a run of an earlier start keeps its id, times, trace and output, and is no change', async () => {
  const stored: object[] = [];
  const file = { append: (record: object) => void stored.push(record), take: () => [], preamble: () => [] };
  const before = new FakeClock(1_000_000, 500);
  const first = new Journal({ clock: before, bootId: 'first', file });
  const event = first.begin(start({ queuedMs: 400 }));
  first.enterPhase('main', 'helm');
  await before.advance(100);
  const hook = first.beginHook(start({ type: 'HookRun', taskId: '', hook: 'a.sh', queuedMs: 600 }));
  for (let line = 0; line < 100; line += 1) first.print(hook, `line ${line} ${'x'.repeat(100)}`);
  first.end(hook, { result: 'failed', error: 'no', code: 'HOOK_FAILED' });
  first.end(event, { result: 'success' });
  const known = first.list({ limit: 9 }).runs;
  // Another machine: its steady clock shows less.
  const clock = new FakeClock(2_000_000, 7);
  const take = (): object[] => JSON.parse(JSON.stringify(stored)) as object[];
  const second = new Journal({ clock, bootId: 'second', file: { ...file, take } });
  expect(second.list({ limit: 9 }).runs).toEqual(
    known.map((run) => ({
      ...run,
      isOfEarlierStart: true,
      outputLength: run.outputLength,
    })),
  );
  expect(second.details(2)).toMatchObject({
    cause: [{ id: '1' }],
    output: { head: expect.stringMatching(/^line 0 /), tail: expect.stringMatching(/line 99 x+\n$/) },
  });
  expect(second.changedSince(0)).toEqual({ runs: [], isComplete: true });
  expect(second.byModule().get('web')).toMatchObject({ recent: 's' });
  second.seedModuleRun('web', { startedAt: '', durationMs: 0, result: 'failed' });
  second.seedModuleRun('db', { startedAt: '', durationMs: 0, result: 'failed' });
  expect([...second.byModule()].map(([name, { recent }]) => [name, recent])).toEqual([
    ['web', 's'],
    ['db', 'f'],
  ]);
});
