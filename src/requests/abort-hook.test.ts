import { expect, test } from 'vitest';
import { type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { abortHook } from './abort-hook.ts';

const HOOKS = {
  'web/hang.sh': { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] },
  'web/life.sh': { beforeHelm: 1 },
};

const hang = () => new Promise<void>(() => undefined);

async function hanging(): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], HOOKS);
  await lab.converge();
  lab.behaviours.set('web/hang.sh', hang);
  lab.emit('web/hang.sh/pods');
  await lab.settle();
  return lab;
}

const request = { hook: 'hang.sh', queue: undefined, isDropped: false };

test('an aborted hook run is recorded as that, and its task is retried as after a failure', async () => {
  await using lab = await hanging();
  expect(abortHook(lab.operator, { ...request, hook: 'web/hang.sh' })).toEqual({ type: 'aborted', runs: 1 });
  await lab.settle();
  const [entry] = lab.operator.queues.get('own').entries;
  expect(entry).toMatchObject({
    failures: 1,
    lastCode: 'RUN_ABORTED',
    lastError: 'The run of hook web/hang.sh was aborted on request',
  });
  expect(lab.journal.list({ limit: 1 }).runs).toMatchObject([{ hook: 'hang.sh', result: 'aborted' }]);
  lab.behaviours.clear();
  await lab.pass(5_000, 1);
  expect(lab.tasks('own')).toEqual([]);
});

test('with drop the task of an event is gone, and the next one runs', async () => {
  await using lab = await hanging();
  expect(abortHook(lab.operator, { ...request, isDropped: true })).toEqual({ type: 'aborted', runs: 1 });
  lab.behaviours.clear();
  await lab.settle();
  expect(lab.tasks('own')).toEqual([]);
  lab.takeCalls();
  lab.emit('web/hang.sh/pods');
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['web/hang.sh Event:pods']);
});

test('a hook of a module run is aborted, but its task is not dropped', async () => {
  await using lab = await operatorLab(['web'], HOOKS);
  lab.behaviours.set('web/life.sh', hang);
  await lab.converge();
  expect(abortHook(lab.operator, { hook: 'life.sh', queue: undefined, isDropped: true })).toEqual({
    type: 'not-droppable',
  });
  abortHook(lab.operator, { hook: 'life.sh', queue: 'main', isDropped: false });
  await lab.settle();
  expect(lab.main.entries[0]).toMatchObject({ failures: 1, lastCode: 'RUN_ABORTED' });
});

test('what does not run is not aborted', async () => {
  await using lab = await hanging();
  expect(abortHook(lab.operator, { ...request, hook: 'other.sh' })).toEqual({
    type: 'not-running',
    running: ['web/hang.sh'],
  });
  expect(abortHook(lab.operator, { ...request, queue: 'main' })).toMatchObject({ type: 'not-running' });
});

test('hooks of the same name are listed by name, whichever began first', async () => {
  const hook = { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] };
  const other = { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'other' }] };
  await using lab = await operatorLab(['db', 'web'], { 'db/hang.sh': hook, 'web/hang.sh': other });
  await lab.converge();
  for (const name of ['web', 'db']) {
    lab.behaviours.set(`${name}/hang.sh`, hang);
    lab.emit(`${name}/hang.sh/pods`);
    await lab.settle();
  }
  const names = ['db/hang.sh', 'web/hang.sh'];
  expect(abortHook(lab.operator, request)).toEqual({ type: 'ambiguous', names });
  expect(abortHook(lab.operator, { ...request, hook: 'none.sh' })).toEqual({
    type: 'not-running',
    running: names,
  });
});
