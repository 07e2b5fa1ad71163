import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { RequestRefusal } from '../server/api/request-refusal.ts';
import { FailedSignIns } from './failed-sign-ins.ts';

/** How many of these attempts pass. */
function passing(failed: FailedSignIns, attempts: number, address: (index: number) => string): number {
  let passed = 0;
  for (let index = 0; index < attempts; index += 1) {
    try {
      failed.attempt(address(index));
      passed += 1;
    } catch (error) {
      if (!(error instanceof RequestRefusal)) throw error;
    }
  }
  return passed;
}

test('an address has 20 failed sign-ins in a minute, others are not affected', async () => {
  const clock = new FakeClock();
  const failed = new FailedSignIns(clock);
  expect(passing(failed, 50, () => '10.0.0.1')).toBe(20);
  expect(passing(failed, 1, () => '10.0.0.2')).toBe(1);
  await clock.advance(15_500);
  expect(() => failed.attempt('10.0.0.1')).toThrow('too many failed sign-ins: try again in 45 s');
  await clock.advance(44_500);
  expect(passing(failed, 50, () => '10.0.0.1')).toBe(20);
});

test('all addresses together have 200, so what is remembered is bounded', () => {
  const failed = new FailedSignIns(new FakeClock());
  expect(passing(failed, 5_000, (index) => `10.0.${index >> 8}.${index & 255}`)).toBe(200);
});

test('an attempt that succeeds does not count, also when it ends in a later minute', async () => {
  const clock = new FakeClock();
  const failed = new FailedSignIns(clock);
  for (let index = 0; index < 100; index += 1) failed.attempt('10.0.0.1')();
  const late = failed.attempt('10.0.0.1');
  await clock.advance(60_000);
  expect(passing(failed, 20, () => '10.0.0.1')).toBe(20);
  late();
  expect(passing(failed, 5, () => '10.0.0.1')).toBe(0);
});
