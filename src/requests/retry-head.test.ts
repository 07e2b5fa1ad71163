import { expect, test } from 'vitest';
import { type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { retryHead } from './retry-head.ts';

const HOOKS = { 'web/check.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] } };

async function withHook(behaviour: () => Promise<void>): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.behaviours.set('web/check.sh', behaviour);
  lab.emit('web/check.sh/pods');
  await lab.settle();
  return lab;
}

test('the delay of a failed hook task ends on request, and the task is tried again', async () => {
  await using lab = await withHook(() => Promise.reject(new Error('refused')));
  const { queues } = lab.operator;
  expect(queues.get('own').status.type).toBe('delayed');
  lab.behaviours.clear();
  lab.takeCalls();
  expect(retryHead(lab.operator, 'own')).toEqual({ type: 'retried', task: 'ModuleHookRun web/check.sh' });
  await lab.settle();
  expect([lab.takeCalls(), lab.tasks('own')]).toEqual([['web/check.sh Event:pods'], []]);
});

test('a task that runs, an empty queue and an unknown one are refused with the reason', async () => {
  await using lab = await withHook(() => new Promise<void>(() => undefined));
  expect(['own', 'main', 'owm'].map((name) => retryHead(lab.operator, name))).toEqual([
    { type: 'refused', reason: 'ModuleHookRun web/check.sh runs now' },
    { type: 'refused', reason: 'queue main is empty' },
    { type: 'unknown', reason: 'there is no queue owm (did you mean "own"?)' },
  ]);
});
