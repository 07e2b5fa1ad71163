import { expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { LeaseFence } from './lease-fence.ts';

test('LeaseFence allows nothing before the first term, everything during it, nothing after it', async () => {
  const clock = new FakeClock();
  expect(() => new LeaseFence(clock).check()).toThrow('no longer holds the lease');
  const fence = new LeaseFence(clock);
  fence.extend(100);
  expect(() => fence.check()).not.toThrow();
  await clock.advance(99);
  fence.extend(200);
  await clock.advance(100);
  expect(() => fence.check()).not.toThrow();
  await clock.advance(1);
  expect(() => fence.check()).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
});

test('LeaseFence stays closed once it was found closed, or was closed', () => {
  const clock = new FakeClock();
  const late = new LeaseFence(clock);
  expect(() => late.check()).toThrow('no longer holds the lease');
  late.extend(100);
  expect(() => late.check()).toThrow('no longer holds the lease');
  const lost = new LeaseFence(clock);
  lost.extend(100);
  lost.close();
  expect(() => lost.check()).toThrow('no longer holds the lease');
});
