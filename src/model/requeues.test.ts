import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { ModuleName } from '../values/module-key.ts';
import { Requeues } from './requeues.ts';

const WEB = 'web' as ModuleName;

function lab() {
  const clock = new FakeClock();
  const due: number[] = [];
  const requeues = new Requeues({ clock, onDue: () => due.push(clock.steadyMs()) });
  return { clock, due, requeues };
}

test('a module is due once after the requested time, and a request without a time changes nothing', async () => {
  const { clock, due, requeues } = lab();
  requeues.request(WEB, 5_000);
  requeues.request(WEB, undefined);
  expect(requeues.dueMs(WEB)).toBe(5_000);
  await clock.advance(60_000);
  expect(due).toEqual([5_000]);
  expect(requeues.dueMs(WEB)).toBeUndefined();
});

test('the last request counts', async () => {
  const { clock, due, requeues } = lab();
  requeues.request(WEB, 5_000);
  requeues.request(WEB, 9_000);
  await clock.advance(60_000);
  expect(due).toEqual([9_000]);
});

test('requests for an immediate run are delayed longer each time, and start over after a pause', async () => {
  const { clock, due, requeues } = lab();
  const ask = async (): Promise<void> => {
    requeues.request(WEB, 0);
    await clock.advance(60_000);
  };
  const startsMs: number[] = [];
  for (let time = 0; time < 9; time += 1) {
    startsMs.push(clock.steadyMs());
    await ask();
  }
  expect(due.map((dueMs, index) => dueMs - (startsMs[index] ?? 0))).toEqual([
    0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
  ]);
  requeues.request(WEB, undefined);
  const nowMs = clock.steadyMs();
  await ask();
  expect(due.at(-1)).toBe(nowMs);
});

test('a module that is not reconciled any more is not due', async () => {
  const { clock, due, requeues } = lab();
  requeues.request(WEB, 5_000);
  requeues.cancel(WEB);
  requeues.request('db' as ModuleName, 5_000);
  requeues.stop();
  await clock.advance(60_000);
  expect(due).toEqual([]);
  expect(clock.pendingDelaysMs).toEqual([]);
});
