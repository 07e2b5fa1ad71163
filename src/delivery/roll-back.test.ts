import { afterEach, expect, test } from 'vitest';
import { type DeliveryLab, labWith, release } from '../../test/support/delivery-lab.ts';

const MINUTE = 60_000;
const INTERVAL = 10 * MINUTE;
const labs: DeliveryLab[] = [];

afterEach(async () => {
  for (const lab of labs.splice(0)) await lab.stop();
});

async function started(): Promise<DeliveryLab> {
  const lab = await labWith();
  labs.push(lab);
  return lab;
}

test('rollback by hand returns to the last good version, with its values, and stays there', async () => {
  const lab = await started();
  lab.section = 'color: green';
  release(lab, '1.1.0');
  await lab.wait(INTERVAL);
  const outcome = await lab.delivery.rollback('web', { withValues: true }, new AbortController().signal);
  expect(outcome).toEqual({ type: 'switched', version: '1.0.0' });
  expect(lab.switches.at(-1)?.section).toBe('color: blue');
  expect(lab.switches.map(({ isReturn }) => isReturn)).toEqual([false, false, true]);
  await lab.wait(2 * INTERVAL);
  expect(lab.running).toEqual({ web: '1.0.0' });
  expect(lab.pending('web')).toMatch(/^Failed: .*rolled back by hand/u);
  expect(lab.cluster.states.get('web')?.lastGood?.version).toBe('1.0.0');
});

test('a rollback by hand never leads to a version that has failed, unless it is named', async () => {
  const lab = await started();
  release(lab, '1.1.0');
  await lab.wait(INTERVAL);
  const rollback = (to?: string) =>
    lab.delivery.rollback('web', to === undefined ? {} : { to }, new AbortController().signal);
  expect(await rollback()).toEqual({ type: 'switched', version: '1.0.0' });
  await lab.wait(INTERVAL);
  await expect(rollback()).rejects.toThrow(
    'no other version that was good: name one with --to; known are: 1.1.0',
  );
  expect(lab.running).toEqual({ web: '1.0.0' });
  expect(await rollback('1.1.0')).toEqual({ type: 'switched', version: '1.1.0' });
});

test('rollback to a version that never ran is refused', async () => {
  const lab = await started();
  const rollingBack = lab.delivery.rollback('web', { to: '0.1.0' }, new AbortController().signal);
  await expect(rollingBack).rejects.toThrow('0.1.0 is no version that web ran with before; known are: none');
});
