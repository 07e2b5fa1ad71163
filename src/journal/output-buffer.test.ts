import { expect, test } from 'vitest';
import { OutputBuffer } from './output-buffer.ts';

const LINE = 'x'.repeat(1_023);

test('short output is kept as it is', () => {
  const buffer = new OutputBuffer();
  buffer.push('one');
  buffer.push('two');
  expect(buffer.read()).toEqual({ head: 'one\ntwo\n', tail: '', cut: 0 });
});

test('of long output the first and the last lines are kept, and what was cut is counted', () => {
  const buffer = new OutputBuffer();
  for (let number = 0; number < 5_000; number += 1) buffer.push(`${number}`.padEnd(1_023, '.'));
  const { head, tail, cut } = buffer.read();
  expect([head.length, tail.length]).toEqual([16 * 1_024, 48 * 1_024]);
  expect(head.startsWith('0.')).toBe(true);
  expect(tail.startsWith('4952.')).toBe(true);
  expect(tail.endsWith('\n')).toBe(true);
  expect(head.length + tail.length + cut).toBe(buffer.total);
  expect(buffer.kept).toBe(64 * 1_024);
});

test('of a line that is too long the end is kept', () => {
  const buffer = new OutputBuffer();
  buffer.push(`${LINE.repeat(100)}end`);
  buffer.push('next');
  const { head, tail, cut } = buffer.read();
  expect([head, tail.endsWith('next\n'), tail.length <= 48 * 1_024]).toEqual(['', true, true]);
  expect(tail.length + cut).toBe(buffer.total);
});
