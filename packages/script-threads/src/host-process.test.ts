import { expect, test } from 'vitest';
import { HostProcess } from './host-process.ts';
import { ScriptWorker } from './script-worker.ts';

const never = new AbortController().signal;

test('a process that is being killed takes no more work, which is not blamed for its end', async () => {
  const host = new HostProcess({
    env: {},
    cwd: '/',
    heapLimitBytes: 64 * 1024 * 1024,
    ownDirectories: [],
    onStrayLine: () => undefined,
  });
  const worker = new ScriptWorker(host, { program: 'none.ts', path: '/none.ts' });
  expect([host.isEnding, worker.isGone]).toEqual([false, false]);
  const killed = host.kill('it could not be stopped');
  expect([host.isEnding, host.isGone, worker.isGone]).toEqual([true, false, true]);
  const limits = {
    clock: { steadyMs: () => 0, sleep: () => Promise.resolve() },
    graceMs: 0,
    timeoutMs: undefined,
  };
  const events = { onOutput: () => undefined };
  expect(await worker.load(limits, events, never)).toEqual({
    type: 'host-gone',
    reason: 'it was no longer running',
    wasAlone: false,
  });
  await killed;
  expect(host.isGone).toBe(true);
});
