import { expect, test } from 'vitest';
import { type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { triggerHook } from './trigger-hook.ts';

const pods = { kind: 'Pod', name: 'pods', queue: 'own' };
const HOOKS = {
  'web/a.sh': {
    onStartup: 1,
    beforeHelm: 1,
    kubernetes: [pods, { ...pods, name: 'quiet', executeHookOnSynchronization: false }],
    schedule: [{ name: 'nightly', crontab: '0 3 * * *', queue: 'clock' }],
  },
};
const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'shop' } };

async function running(hooks: Readonly<Record<string, object>> = HOOKS): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], hooks);
  lab.objects.set('web/a.sh/pods', [{ object: POD }]);
  await lab.converge();
  lab.takeCalls();
  return lab;
}

const trigger = (lab: OperatorLab, binding: string, object?: string, hook = 'a.sh') =>
  triggerHook(lab.operator, { hook, binding, object });

test.each([
  ['nightly', undefined, 'clock', 'web/a.sh Schedule:nightly'],
  ['pods', undefined, 'own', 'web/a.sh Synchronization:pods'],
  ['pods', 'pod/shop/a', 'own', 'web/a.sh Event:pods'],
  ['onStartup', undefined, 'main', 'web/a.sh onStartup'],
])('a run for %s, object %s, goes through its own queue', async (binding, object, queue, call) => {
  await using lab = await running();
  expect(trigger(lab, binding, object, 'web/a.sh')).toEqual({ type: 'queued', queue, ahead: 0 });
  expect(lab.operator.queues.get(queue).entries[0]?.task).toMatchObject({ trigger: 'Request' });
  await lab.settle();
  expect(lab.takeCalls().filter((each) => each.startsWith('web/'))).toEqual([call]);
});

test('the event holds the object of the snapshot', async () => {
  await using lab = await running();
  let seen: unknown;
  lab.behaviours.set('web/a.sh', ({ contexts }) => {
    seen = contexts;
  });
  trigger(lab, 'pods', 'Pod/shop/a');
  await lab.settle();
  expect(seen).toEqual([{ binding: 'pods', type: 'Event', watchEvent: 'Modified', object: POD }]);
});

test.each([
  [
    'a.sh',
    'nightyl',
    undefined,
    'hook a.sh has no binding nightyl that can be triggered (did you mean "nightly"?)',
  ],
  ['a.sh', 'beforeHelm', undefined, 'it has onStartup, pods, quiet, nightly'],
  ['a.sh', 'nightly', 'Pod/shop/a', '--object is for kubernetes bindings, and nightly is none'],
  ['a.sh', 'quiet', undefined, 'executeHookOnSynchronization: false'],
  ['a.sh', 'pods', 'Pod/shop/b', 'the snapshot of binding pods has no Pod/shop/b'],
  ['web/a.hs', 'pods', undefined, 'there is no hook web/a.hs (did you mean "web/a.sh"?)'],
])('hook %s, binding %s, object %s is refused: %s', async (hook, binding, object, reason) => {
  await using lab = await running();
  expect(trigger(lab, binding, object, hook)).toEqual({
    type: 'refused',
    reason: expect.stringContaining(reason),
  });
  await lab.settle();
  expect(lab.takeCalls()).toEqual([]);
});

test('hooks of the same name are distinguished by their module', async () => {
  const hook = { kubernetes: [pods] };
  await using lab = await operatorLab(['db', 'web'], { 'db/a.sh': hook, 'web/a.sh': hook });
  await lab.converge();
  expect(trigger(lab, 'pods')).toEqual({
    type: 'refused',
    reason: 'several hooks have this name: name one of db/a.sh, web/a.sh',
  });
  expect(trigger(lab, 'pods', undefined, 'db/a.sh')).toMatchObject({ type: 'queued' });
});

test('values that a requested Synchronization changes lead to a run of the module', async () => {
  await using lab = await running();
  lab.behaviours.set('web/a.sh', ({ contexts, write }) => {
    if (contexts[0]?.type === 'Synchronization')
      write('VALUES_JSON_PATCH_PATH', [{ op: 'add', path: '/web/count', value: 7 }]);
  });
  trigger(lab, 'pods');
  await lab.settle();
  const calls = lab.takeCalls();
  expect(calls.slice(calls.indexOf('web/a.sh Synchronization:pods'))).toEqual([
    'web/a.sh Synchronization:pods',
    'web/a.sh beforeHelm',
    'deploy web {"count":7}',
  ]);
});

test('a requested onStartup that fails does not hold up main', async () => {
  await using lab = await running();
  lab.behaviours.set('web/a.sh', () => {
    throw new Error('broken');
  });
  trigger(lab, 'onStartup');
  await lab.settle();
  expect(lab.tasks()).toEqual([]);
});
