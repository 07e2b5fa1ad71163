import { expect, test } from 'vitest';
import type { FailedTask } from '../../queues/failed-task.ts';
import type { ProgressEvent } from './progress-event.ts';
import { advance, NO_PROGRESS, type Progress } from './progress-state.ts';

const HOOK = { module: 'web', hook: 'a.sh', binding: 'beforeHelm' };
const FAILED: FailedTask = {
  queue: 'main',
  task: 'ModuleRun',
  module: 'web',
  hook: '',
  failures: 2,
  facts: {},
  error: 'boom',
  delayMs: 6_000,
  holdsUpFirstConverge: true,
};

function after(...events: readonly ProgressEvent[]): Progress {
  return events.reduce(advance, NO_PROGRESS);
}

const ENABLED: ProgressEvent = { type: 'modules-enabled', modules: ['db', 'web'] };

test.each<[string, readonly ProgressEvent[], unknown]>([
  ['waits once it is found enabled', [], { type: 'waiting' }],
  ['runs a hook', [{ type: 'hook-started', run: HOOK }], { type: 'hook', hook: 'a.sh' }],
  ['runs helm', [{ type: 'helm-running', module: 'web', operation: 'install' }], { type: 'helm' }],
  ['is ready', [{ type: 'module-ready', module: 'web' }], { type: 'ready' }],
  [
    'stays ready while an event runs a hook of it',
    [
      { type: 'module-ready', module: 'web' },
      { type: 'hook-started', run: HOOK },
    ],
    { type: 'ready' },
  ],
  [
    'failed, with the reason',
    [{ type: 'task-failed', failed: FAILED }],
    { type: 'failed', error: 'boom', failures: 2 },
  ],
])('advance() knows that a module %s', (_case, events, expected) => {
  expect(after(ENABLED, ...events).modules.get('web')).toEqual(expected);
});

test('advance() keeps what it knows of modules that stay enabled', () => {
  const progress = after(
    ENABLED,
    { type: 'module-ready', module: 'web' },
    {
      type: 'modules-enabled',
      modules: ['web', 'new'],
    },
  );
  expect([...progress.modules]).toEqual([
    ['web', { type: 'ready' }],
    ['new', { type: 'waiting' }],
  ]);
});

test('advance() shows the phase: the global hook that runs, or the task that failed', () => {
  const run = { module: '', hook: 'facts.sh', binding: 'beforeAll' };
  expect(after({ type: 'hook-started', run }).phase).toBe('global hook facts.sh (beforeAll)');
  const failed: FailedTask = { ...FAILED, task: 'GlobalHookRun', module: '', hook: 'facts.sh' };
  expect(after({ type: 'task-failed', failed }).phase).toBe('hook facts.sh failed, waiting for its next try');
  expect(after({ type: 'converged' }).phase).toBe('ready');
});

test('advance() knows that a module fails whose hook fails for an event', () => {
  const failed: FailedTask = { ...FAILED, task: 'ModuleHookRun', hook: 'hooks/a.sh', error: 'no disk' };
  const { modules, phase } = after(ENABLED, { type: 'task-failed', failed });
  expect(modules.get('web')).toEqual({ type: 'failed', error: 'no disk', failures: 2 });
  expect(phase).toBe('hook web/hooks/a.sh failed, waiting for its next try');
});

test('advance() keeps the last lines of a hook until its run is over', () => {
  const printed = (line: string): ProgressEvent => ({ type: 'hook-printed', run: HOOK, line });
  const before = after(printed('one'), printed('two'), printed('three'), printed('four'));
  expect([...before.printed]).toEqual([['web/a.sh', ['two', 'three', 'four']]]);
  expect(advance(before, { type: 'hook-finished', run: HOOK, durationMs: 1 }).printed.size).toBe(0);
});
