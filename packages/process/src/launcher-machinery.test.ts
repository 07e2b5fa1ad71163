import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { RestChore } from './launcher-machinery.ts';

test('RestChore calls back once each time nothing has been running for three seconds', async () => {
  const clock = new FakeClock();
  const startMs = clock.steadyMs();
  let isBusy = false;
  let calls = 0;
  const chore = new RestChore(
    clock,
    () => isBusy,
    () => {
      calls += 1;
    },
  );
  expect(chore.dueMs()).toBe(startMs + 3_000);
  await clock.advance(2_000);
  expect(chore.dueMs()).toBe(startMs + 3_000);
  isBusy = true;
  expect(chore.dueMs()).toBeUndefined();
  isBusy = false;
  expect(chore.dueMs()).toBe(startMs + 5_000);
  chore.act();
  expect([calls, chore.dueMs()]).toEqual([1, undefined]);
  isBusy = true;
  expect(chore.dueMs()).toBeUndefined();
  isBusy = false;
  expect(chore.dueMs()).toBe(startMs + 5_000);
});
