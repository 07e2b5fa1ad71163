import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import type { ConvergeState } from '../model/converge-state.ts';
import type { Task } from '../model/tasks.ts';
import { failedTask } from './failed-task.ts';

const converge: Task = { type: 'ConvergeModules', event: 'OperatorStartup', trigger: 'Operator-Startup' };
const apply: Task = { type: 'ApplyKubeConfigValues', changedKeys: [], trigger: 'ConfigMap' };

test.each<[string, Task, string, ConvergeState['first'], boolean]>([
  ['what is in main before the first converge', apply, 'main', 'running', true],
  ['a part of the converge in another queue', converge, 'other', 'not-started', true],
  ['anything else in another queue', apply, 'other', 'running', false],
  ['anything after the first converge', converge, 'main', 'done', false],
])('failedTask() of %s', (_case, task, queue, first, holdsUpFirstConverge) => {
  const entry = { id: 1, task, queuedAtMs: 0, failures: 2, isFailing: true, lastError: 'no luck' };
  const error = new OperatorError('HOOK_FAILED', 'no luck', { facts: { exitCode: 3 } });
  expect(failedTask(queue, entry, { error, delayMs: 6_000 }, { first })).toEqual({
    queue,
    task: task.type,
    module: '',
    hook: '',
    failures: 2,
    error: 'no luck',
    facts: { code: 'HOOK_FAILED', exitCode: 3 },
    delayMs: 6_000,
    holdsUpFirstConverge,
  });
});
