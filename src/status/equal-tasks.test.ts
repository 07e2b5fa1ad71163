import { expect, test } from 'vitest';
import { equalTasks } from './equal-tasks.ts';

test('equal tasks are joined, but not with the first of the queue, nor with one that failed', () => {
  const task = (hook: string, failures = 0) => ({
    type: 'ModuleHookRun',
    module: 'web',
    hook,
    binding: 'schedule',
    trigger: 'Schedule',
    failures,
  });
  const tasks = [task('a'), task('a'), task('b'), task('a', 2), task('a'), task('b'), task('b')];
  expect(equalTasks(tasks).map(({ task: { hook }, place, count }) => [hook, place, count])).toEqual([
    ['a', 1, 1],
    ['a', 2, 2],
    ['b', 3, 3],
    ['a', 4, 1],
  ]);
  expect(equalTasks([])).toEqual([]);
});
