import type { OnFire } from '@addon-operator/crontab/schedule-manager';
import { expect, test } from 'vitest';
import { hookFor, operatorLab } from '../../test/support/operator-lab.ts';
import { Schedules } from './schedules.ts';

async function harness() {
  const lab = await operatorLab([]);
  const { createRuntime } = lab.operator.bindings;
  const timers: string[] = [];
  const fired: string[] = [];
  let onDue: OnFire = () => undefined;
  const schedules = new Schedules({
    manager: {
      add: (crontab, id) => timers.push(`${crontab} ${id}`),
      remove: (crontab, id) => timers.splice(timers.indexOf(`${crontab} ${id}`), 1),
      run: (onFire) => {
        onDue = onFire;
        return Promise.resolve();
      },
    },
    onTick: (runtime, binding) => fired.push(`${runtime.hook.name} ${binding.name}`),
  });
  await schedules.run(new AbortController().signal);
  const fire = (...ids: string[]): void => onDue('@daily', ids);
  const a = createRuntime(
    await hookFor('global/a.sh', {
      schedule: [
        { crontab: '@daily', name: 'one' },
        { crontab: '@daily', name: 'two' },
      ],
    }),
  );
  const b = createRuntime(await hookFor('global/b.sh', { schedule: [{ crontab: '@hourly' }] }));
  return { schedules, timers, fired, fire, a, b };
}

test('set() registers each crontab of a hook under an id of its own', async () => {
  const { schedules, timers, a, b } = await harness();
  schedules.set(a, true);
  schedules.set(b, true);
  schedules.set(a, true);
  expect(timers).toEqual(['@daily 1', '@daily 2', '@hourly 3']);
  expect(a.areSchedulesEnabled).toBe(true);
});

test('run() makes one tick of each binding', async () => {
  const { schedules, fired, fire, a, b } = await harness();
  schedules.set(a, true);
  schedules.set(b, true);
  fire('2', '1', '3', 'unknown');
  expect(fired).toEqual(['a.sh two', 'a.sh one', 'b.sh schedule']);
});

test('set() removes the crontabs of one hook, and may register them again', async () => {
  const { schedules, timers, fired, fire, a, b } = await harness();
  schedules.set(a, true);
  schedules.set(b, true);
  schedules.set(a, false);
  schedules.set(a, false);
  expect(timers).toEqual(['@hourly 3']);
  fire('1', '3');
  expect(fired).toEqual(['b.sh schedule']);
  schedules.set(a, true);
  expect(timers).toEqual(['@hourly 3', '@daily 4', '@daily 5']);
});
