import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { encodeFrame, FRAME_KINDS } from './launcher-protocol.ts';
import { ProcessRun } from './process-run.ts';

const { signal } = new AbortController();

test('the limit of time counts from the first output when the start is reported later', async () => {
  const clock = new FakeClock();
  const sent: Buffer[] = [];
  const spec = { file: '/bin/true', args: [], cwd: '/', env: {}, timeoutMs: 5_000, graceMs: 10 };
  const run = new ProcessRun(1, { spec, clock, signal, send: (frame) => sent.push(frame) });
  run.onOutput('stdout', Buffer.from('hangs\n'));
  await clock.advance(4_000);
  run.onStarted({ pid: 2, start: '3' });
  expect(sent).toEqual([]);
  await clock.advance(1_000);
  expect(sent).toEqual([encodeFrame(FRAME_KINDS.signal, 1, Uint8Array.of(constants.signals.SIGTERM))]);
});
