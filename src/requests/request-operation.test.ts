import { expect, test } from 'vitest';
import { failing, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { requestOperation } from './request-operation.ts';

function tick(lab: OperatorLab): void {
  const runtime = lab.runtimeOf('web/a.sh');
  for (const binding of runtime.hook.config.schedule) lab.operator.router.onScheduleTick(runtime, binding);
}

test('an abort drops a hook for events that waits for another try, and the tasks behind it run', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { schedule: [{ crontab: '* * * * *' }] } });
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  tick(lab);
  await lab.settle();
  tick(lab);
  expect(requestOperation(lab.operator, name('web'), 'abort')).toBe('requested');
  lab.behaviours.clear();
  lab.takeCalls();
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['web/a.sh Schedule:schedule']);
  expect(lab.log.records).toContainEqual(
    expect.objectContaining({ level: 'warn', module: 'web', hook: 'a.sh', binding: 'schedule' }),
  );
  expect(lab.operator.router.main.entries).toEqual([]);
  expect(lab.operator.registry.tracked.get(name('web'))?.stall).toBeUndefined();
});

test('the log names a hook for events that an abort ends', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { schedule: [{ crontab: '* * * * *' }] } });
  await lab.converge();
  const { promise, resolve } = Promise.withResolvers<void>();
  lab.behaviours.set('web/a.sh', () => promise);
  tick(lab);
  await lab.settle();
  expect(requestOperation(lab.operator, name('web'), 'abort')).toBe('requested');
  expect(lab.log.records).toContainEqual(
    expect.objectContaining({ level: 'warn', module: 'web', hook: 'a.sh', binding: 'schedule' }),
  );
  resolve();
});
