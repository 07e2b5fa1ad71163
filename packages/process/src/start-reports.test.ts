import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { StartReports } from './launcher-machinery.ts';

test('reports a start 10 ms later, unless the run has ended by then', async () => {
  const clock = new FakeClock();
  const reported: number[] = [];
  const reports = new StartReports(clock, (run) => reported.push(run));
  const startMs = clock.steadyMs();
  expect(reports.dueMs()).toBeUndefined();
  reports.add(1);
  await clock.advance(4);
  reports.add(2);
  reports.add(3);
  reports.delete(2);
  expect(reports.dueMs()).toBe(startMs + 10);
  await clock.advance(6);
  reports.act();
  expect(reported).toEqual([1]);
  expect(reports.dueMs()).toBe(startMs + 14);
  await clock.advance(4);
  reports.act();
  expect(reported).toEqual([1, 3]);
  expect(reports.dueMs()).toBeUndefined();
});
