import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { BoundedLogOutput } from './bounded-log-output.ts';

const MIB = 1024 * 1024;

/** A reader that takes as many bytes as a test allows. */
function startLab() {
  const clock = new FakeClock();
  const lab = {
    clock,
    room: Number.POSITIVE_INFINITY,
    taken: '',
    failure: undefined as Error | undefined,
    reports: [] as number[],
    output: new BoundedLogOutput((bytes) => {
      if (lab.failure !== undefined) throw lab.failure;
      const count = Math.min(lab.room, bytes.length);
      lab.room -= count;
      lab.taken += Buffer.from(bytes.subarray(0, count)).toString();
      return count;
    }, clock),
  };
  lab.output.onRecovered((dropped) => lab.reports.push(dropped));
  return lab;
}

test('write() hands a record over at once, while the reader takes it', () => {
  const lab = startLab();
  lab.output.write('one\n');
  expect(lab.taken).toBe('one\n');
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});

test('write() keeps what the reader does not take, and continues in the middle of a record', async () => {
  const lab = startLab();
  lab.room = 5;
  lab.output.write('one\n');
  lab.output.write('two\n');
  lab.output.write('three\n');
  expect(lab.taken).toBe('one\nt');
  lab.room = 4;
  await lab.clock.advance(100);
  expect(lab.taken).toBe('one\ntwo\nt');
  lab.room = Number.POSITIVE_INFINITY;
  await lab.clock.advance(100);
  expect(lab.taken).toBe('one\ntwo\nthree\n');
  expect(lab.output.dropped).toBe(0);
  expect(lab.reports).toEqual([]);
});

test('write() drops what does not fit into 4 MiB, counts it, and reports it when the reader is back', async () => {
  const lab = startLab();
  lab.room = 0;
  const record = `${'x'.repeat(MIB - 1)}\n`;
  for (let count = 0; count < 6; count += 1) lab.output.write(record);
  expect(lab.output.dropped).toBe(2);
  expect(lab.reports).toEqual([]);
  lab.room = Number.POSITIVE_INFINITY;
  await lab.clock.advance(100);
  expect(lab.taken).toBe(record.repeat(4));
  expect(lab.reports).toEqual([2]);
  lab.output.write('next\n');
  expect(lab.reports).toEqual([2]);
});

test('write() takes a record larger than the buffer, when nothing else waits', async () => {
  const lab = startLab();
  lab.room = 10;
  const record = `${'x'.repeat(5 * MIB)}\n`;
  lab.output.write(record);
  lab.room = Number.POSITIVE_INFINITY;
  await lab.clock.advance(100);
  expect(lab.taken).toBe(record);
});

test('write() drops and counts records that fail, and reports them when one succeeds', () => {
  const lab = startLab();
  lab.failure = new Error('ENOSPC');
  lab.output.write('one\n');
  lab.output.write('two\n');
  expect(lab.output.dropped).toBe(2);
  lab.failure = undefined;
  lab.output.write('three\n');
  expect(lab.taken).toBe('three\n');
  expect(lab.reports).toEqual([2]);
});

test('close() waits a second for the reader, then tries no more', async () => {
  const lab = startLab();
  lab.room = 0;
  lab.output.write('one\n');
  const closed = lab.output.close();
  await lab.clock.advance(1_000);
  await closed;
  expect(lab.clock.pendingDelaysMs).toEqual([]);
  lab.output.write('two\n');
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});
