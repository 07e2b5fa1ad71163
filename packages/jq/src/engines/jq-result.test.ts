import { expect, test } from 'vitest';
import { parseResponse, requestLine, splitRequest } from './jq-result.ts';

const listOf = (item: string, count: number): string => `[[${Array(count).fill(item).join(',')}]]`;

test.each([
  ['numbers', listOf('1', 300_001)],
  ['numbers, one of them beyond 2^53', `[[${'1,'.repeat(300_000)}12345678901234567]]`],
  ['empty lists', listOf('[]', 150_001)],
  ['outputs', `[${'1,'.repeat(300_000)}1]`],
  ['keys', `[{${'"a":1,'.repeat(150_000)}"b":1}]`],
  ['strings that end with a backslash', listOf(String.raw`"\\\\"`, 300_001)],
])('FAULT-D8: parseResponse() refuses more %s than the event loop reads in a second', (_what, line) => {
  expect(() => parseResponse('.data', line)).toThrow(
    'Cannot apply the jq filter ".data": its output for one object has more than 300000 keys and values: ',
  );
});

test.each([
  ['300,000 numbers', listOf('1', 299_999)],
  ['a string of marks', JSON.stringify([',:[{'.repeat(1_000_000)])],
  ['a string of quotes and marks', JSON.stringify(['",\\",:[{\\\\'.repeat(200_000)])],
])('parseResponse() reads %s', (_what, line) => {
  expect(JSON.stringify(parseResponse('.data', line))).toBe(line);
});

test.each([
  { program: '.a', input: '{"a":1}' },
  { program: '.a\t| "\n\u2028\\t"', input: '"\\t"' },
  { program: '', input: undefined },
])('splitRequest() gives back what requestLine() was given: %j', (request) => {
  const line = requestLine(request);
  expect(line).not.toContain('\n');
  expect(splitRequest(line)).toEqual(request);
});
