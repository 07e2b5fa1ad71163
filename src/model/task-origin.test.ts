import { expect, test } from 'vitest';
import { hookFor, operatorLab } from '../../test/support/operator-lab.ts';
import { causedBy, eventIds, originFields, withOrigin } from './task-origin.ts';
import type { Task } from './tasks.ts';

const task: Task = { type: 'ReloadFiles', saved: [], trigger: 'test' };

test('eventIds() gives every event another text', () => {
  const next = eventIds(() => 0.5);
  expect([next(), next()]).toEqual(['80000000-1', '80000000-2']);
  expect(eventIds(() => 0)()).toBe('00000000-1');
});

test('withOrigin() gives tasks that come together one event', () => {
  const ids = eventIds(() => 0);
  const next = () => ({ eventId: ids() });
  expect(withOrigin([task, task], undefined, next)).toEqual([
    { ...task, eventId: '00000000-1' },
    { ...task, eventId: '00000000-1' },
  ]);
  expect(withOrigin([task], undefined, next)).toEqual([{ ...task, eventId: '00000000-2' }]);
});

test('withOrigin() hands on the origin of the task they follow, and leaves one that they have', () => {
  const triggeredBy = { hook: 'a.sh', binding: 'schedule', bindingName: 'every minute' };
  const own: Task = { ...task, eventId: 'own' };
  const next = () => ({ eventId: 'new' });
  expect(withOrigin([task, own], { ...task, eventId: 'e', triggeredBy }, next)).toEqual([
    { ...task, eventId: 'e', triggeredBy },
    own,
  ]);
  expect(withOrigin([{ ...task, triggeredBy }], undefined, next)).toEqual([
    { ...task, triggeredBy, eventId: 'new' },
  ]);
});

test('causedBy() names the hook, its binding and the event', async () => {
  const { operator } = await operatorLab(['web']);
  const hook = operator.bindings.createRuntime(
    await hookFor('global/a.sh', { kubernetes: [{ kind: 'Pod', name: 'pods' }] }),
  );
  const [pods] = hook.hook.config.kubernetes;
  if (pods === undefined) throw new Error('no binding');
  const run = { hook, binding: 'kubernetes', allowFailure: false, trigger: 't', activation: '' } as const;
  const event = { watchEvent: 'Deleted', key: '/a', item: {} } as const;
  const reasons = [{ type: 'event', binding: pods, event } as const];
  const origin = causedBy({ ...run, reasons, eventId: 'e-1' });
  expect(originFields(origin)).toEqual({
    'event.id': 'e-1',
    'event.triggered-by.hook': 'a.sh',
    'event.triggered-by.binding': 'kubernetes',
    'event.triggered-by.binding.name': 'pods',
    'event.triggered-by.watchEvent': 'Deleted',
  });
  expect(originFields({})).toEqual({});
});
