import { expect, test } from 'vitest';
import { tableText } from '../output/tables.ts';
import { queuesTable } from './queue-table.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const TICK = {
  type: 'ModuleHookRun',
  module: 'web',
  hook: 'a.sh',
  binding: 'schedule',
  trigger: 'Schedule',
  eventId: 'e-1',
  queuedAt: '2026-01-01T00:05:00Z',
  failures: 0,
  lastError: '',
  waits: [],
};
const FAILED = {
  ...TICK,
  failures: 3,
  lastError: 'OSError: no disk\n\nTraceback',
  queuedAt: '2026-01-01T00:00:00Z',
};
const DELAYED = { type: 'delayed', since: '2026-01-01T00:09:00Z', until: '2026-01-01T00:10:30Z' };
const RUNNING = { type: 'running', since: '2026-01-01T00:09:58Z', until: null };
const QUEUES = {
  queues: [
    {
      name: 'main',
      status: RUNNING,
      more: 7,
      tasks: [{ ...TICK, type: 'ModuleRun', hook: '', binding: '' }],
    },
    {
      name: 'cron',
      status: DELAYED,
      more: 0,
      tasks: [FAILED, TICK, { ...TICK, hook: 'b.sh' }, TICK, { ...TICK, hook: 'b.sh' }, TICK],
    },
    { name: 'own', status: { type: 'waiting' }, more: 0, tasks: [] },
    { name: 'parallel_queue_0', status: { type: 'waiting' }, more: 0, tasks: [] },
  ],
};

test('tasks are rows below their queue, of equal ones that wait the first with their number', () => {
  const table = queuesTable({ names: [], isEmptyShown: true })(QUEUES, NOW);
  expect(
    tableText(table, 'table'),
  ).toBe(`QUEUE  #  TASK                                  SINCE  TRIES  NEXT  ERROR
main   1  ModuleRun web                         2s            runs
main   …  7 more
cron   1  ModuleHookRun web/a.sh (schedule)     10m    3      30s   OSError: no disk
cron   2  ModuleHookRun web/a.sh (schedule) ×3  5m
cron   3  ModuleHookRun web/b.sh (schedule) ×2  5m
own    -  empty
`);
  expect(table.names).toEqual(['main', 'cron', 'own']);
});

test('runs that are in no queue are below the table', () => {
  const table = queuesTable({ names: [], isEmptyShown: false })({ queues: [], failed: ['hook a.sh failed'] });
  expect(tableText(table, 'table')).toBe(
    'no task is queued\n\nFailed, not retried (1):\n- hook a.sh failed\n',
  );
});

test('only chosen queues and queues with tasks are shown', () => {
  const namesOf = (names: readonly string[]) =>
    queuesTable({ names, isEmptyShown: false })(QUEUES, NOW).names;
  expect([namesOf([]), namesOf(['cron', 'own'])]).toEqual([['main', 'cron'], ['cron']]);
  const none = queuesTable({ names: ['own'], isEmptyShown: false })(QUEUES, NOW);
  expect(tableText(none, 'table')).toBe('no task is queued\n');
});
