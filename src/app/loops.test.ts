import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { ProcessMemory } from './free-memory.ts';
import { startFreeingMemory } from './loops.ts';

/** A process that is at rest and whose memory can be read only so often. */
function processWith({ reads }: { readonly reads: number }) {
  const clock = new FakeClock();
  const log = new CapturedLog(clock);
  let left = reads;
  const memory: ProcessMemory = {
    cpuMs: () => 0,
    collect: () => undefined,
    returnCode: () => Promise.resolve(),
    read: () => {
      if (left === 0) throw new Error('no memory');
      left -= 1;
      return { usedBytes: 0, keptBytes: 0 };
    },
  };
  const [stop, running] = [new AbortController(), new AsyncDisposableStack()];
  startFreeingMemory({ clock, log: log.logger, memory }, { stop: stop.signal, running });
  return { clock, log, stop, running };
}

test('a loop that ends before the daemon stops is an error in the log, and keeps nothing waiting', async () => {
  const { clock, log, running } = processWith({ reads: 1 });
  while (log.records.length === 0) await clock.advance(60_000);
  expect(log.records).toMatchObject([
    { level: 'error', msg: 'a loop of the daemon ended unexpectedly', error: 'no memory' },
  ]);
  await running.disposeAsync();
});

test('a loop that ends because the daemon stops is waited for, and not in the log', async () => {
  const { log, stop, running } = processWith({ reads: 1 });
  stop.abort();
  await running.disposeAsync();
  expect(log.records).toEqual([]);
});

test('a process whose memory cannot be read has no such loop', async () => {
  const clock = new FakeClock();
  await using running = new AsyncDisposableStack();
  const host = { clock, log: new CapturedLog(clock).logger };
  startFreeingMemory(host, { stop: new AbortController().signal, running });
  expect(clock.pendingDelaysMs).toEqual([]);
});
