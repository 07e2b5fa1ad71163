import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isProcessAlive, processStart } from './process-alive.ts';

test('isProcessAlive() knows processes that exist, and those that do not', () => {
  expect(isProcessAlive(process.pid)).toBe(true);
  expect(isProcessAlive(process.pid, processStart(process.pid))).toBe(true);
  expect(isProcessAlive(999_999_999)).toBe(false);
});

test.runIf(existsSync('/proc/self/task'))(
  'isProcessAlive() takes neither a later process nor a thread of one for the process that had its number',
  () => {
    expect(isProcessAlive(process.pid, '1')).toBe(false);
    const thread = readdirSync('/proc/self/task')
      .map(Number)
      .find((id) => id !== process.pid);
    // The kernel says that a thread exists, as if it were a process.
    expect([thread, isProcessAlive(Number(thread)), isProcessAlive(Number(thread), '1')]).toEqual([
      thread,
      true,
      false,
    ]);
  },
);
