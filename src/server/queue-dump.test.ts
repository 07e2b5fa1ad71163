import { expect, test } from 'vitest';
import type { QueueView } from '../status/daemon-view.ts';
import { queueData, queueListData, queueListText, queueText } from './queue-dump.ts';

function queue(name: string, status: string, ...descriptions: string[]): QueueView {
  return { name, status, tasks: descriptions.map((description, at) => ({ index: at + 1, description })) };
}

const MAIN = queue(
  'main',
  'sleep after fail for 9.2s (8s left of 9s delay)',
  'ModuleRun:main:web:doStartup:OperatorStartup:failures 4:boom',
  'ConvergeModules:main:::Operator-Startup',
);

const UNNAMED = { module: '', startedAt: '2026-11-23T08:00:00Z', isDroppable: false };

test('queueText() prints one queue', () => {
  expect(
    queueText(MAIN),
  ).toBe(`Queue 'main': length 2, status: 'sleep after fail for 9.2s (8s left of 9s delay)'

 1. ModuleRun:main:web:doStartup:OperatorStartup:failures 4:boom
 2. ConvergeModules:main:::Operator-Startup
`);
});

test('queueText() prints an empty queue', () => {
  expect(queueText(queue('main', ''))).toBe("Queue 'main': length 0, status: ''\n");
});

test('a task is one line whatever its error says', () => {
  expect(queueText(queue('q', '', 'failed: a\n  b\u001b[2J\n'))).toContain(' 1. failed: a b\\u001b[2J\n');
});

test('queueListText() prints main first, others by name, and a summary', () => {
  expect(
    queueListText([queue('z', '', 't1'), queue('e', ''), queue('b', '', 't2'), MAIN], false),
  ).toBe(`${queueText(MAIN)}
Queue 'b': length 1, status: ''

 1. t2

Queue 'z': length 1, status: ''

 1. t1

Summary:
- 'main' queue: 2 tasks.
- 3 other queues (2 active, 1 empty): 2 tasks.
- total 4 tasks to handle.
`);
});

test('queueListText() names empty queues on wish', () => {
  expect(queueListText([queue('q', ''), queue('main', '')], true)).toBe(`Empty queues (2):
- main
- q

Summary:
- 'main' queue: empty.
- 1 other queues (0 active, 1 empty): 0 tasks.
- no tasks to handle.
`);
});

test('one task is reported in the singular', () => {
  expect(queueListText([queue('main', '', 't')], false)).toContain("- 'main' queue: 1 task.\n");
});

test('queueListData() has the documented keys, the empty queues only on wish', () => {
  const queues = [queue('q', ''), MAIN];
  expect(queueListData(queues, false)).toEqual({
    active: [queueData(MAIN)],
    summary: { mainQueueTasks: 2, otherQueues: { active: 0, empty: 1, tasks: 0 }, totalTasks: 2 },
  });
  expect(queueListData(queues, true)).toMatchObject({ empty: [{ name: 'q', tasksCount: 0 }] });
  expect(queueData(MAIN)).toMatchObject({ name: 'main', tasksCount: 2, tasks: [{ index: 1 }, { index: 2 }] });
});

test('a hook that runs for more than ten seconds is named below the tasks of its queue', () => {
  const queue = {
    name: 'main',
    status: 'run first task',
    tasks: [{ index: 1, description: 'GlobalHookRun' }],
  };
  const hook = {
    hook: 'hang.sh',
    binding: 'onStartup',
    queue: 'main',
    task: 'GlobalHookRun',
    pid: 4711,
    runningMs: 35_400,
    ...UNNAMED,
  };
  const hooks = [hook, { ...hook, queue: 'own' }, { ...hook, hook: 'new.sh', runningMs: 5_000 }];
  expect(queueText(queue, hooks)).toBe(
    "Queue 'main': length 1, status: 'run first task'\n\n 1. GlobalHookRun\n\nhook hang.sh runs for 35 s (queue main, task GlobalHookRun, pid 4711)\n",
  );
});
