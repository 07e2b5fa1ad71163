import { retryDelayMs } from '@addon-operator/concurrency/backoff';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { name } from '../../test/support/operator-lab.ts';
import { FailedScripts } from './failed-scripts.ts';

const [A, B] = [name('a'), name('b')];

function setUp() {
  const clock = new FakeClock();
  const due: number[] = [];
  const scripts = new FailedScripts({ clock, random: () => 0, onDue: () => due.push(clock.wallMs()) });
  return { clock, due, scripts, startMs: clock.wallMs() };
}

test('failed scripts are due after the delays of failed tasks, and none is after a success', async () => {
  const { clock, due, scripts, startMs } = setUp();
  let nextMs = startMs;
  for (let failures = 0; failures < 8; failures += 1) {
    scripts.note([A]);
    nextMs += retryDelayMs(failures, () => 0);
    expect(scripts.dueMs).toBe(nextMs);
    await clock.advance(nextMs - clock.wallMs());
    expect(due.at(-1)).toBe(nextMs);
    expect(scripts.dueMs).toBeUndefined();
    expect(scripts.of(A)).toEqual({ sinceMs: startMs, attempts: failures + 1 });
  }
  scripts.note([]);
  await clock.advance(3_600_000);
  expect(due).toHaveLength(8);
  expect(scripts.of(A)).toBeUndefined();
});

test('scripts that fail are due together, when the one is that has failed least often', async () => {
  const { clock, due, scripts, startMs } = setUp();
  for (let failures = 0; failures < 5; failures += 1) scripts.note([A]);
  await clock.advance(1_000);
  scripts.note([A, B]);
  expect(scripts.dueMs).toBe(startMs + 1_000 + retryDelayMs(0, () => 0));
  expect(scripts.of(A)).toEqual({ sinceMs: startMs, attempts: 6 });
  expect(scripts.of(B)).toEqual({ sinceMs: startMs + 1_000, attempts: 1 });
  scripts.note([B]);
  expect(scripts.of(A)).toBeUndefined();
  scripts.stop();
  await clock.advance(3_600_000);
  expect(due).toEqual([]);
});
