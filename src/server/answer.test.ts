import { expect, test } from 'vitest';
import { parseJson } from '../lib/json.ts';
import { dataAnswer } from './answer.ts';

test('JSON is compact and ends its line', () => {
  expect(dataAnswer('json', { b: 1, a: [null] })).toEqual({
    status: 200,
    contentType: 'application/json',
    body: '{"b":1,"a":[null]}\n',
  });
});

test('YAML is indented by two spaces', () => {
  expect(dataAnswer('yaml', { b: { c: [1, { d: 'text' }] }, left: undefined }).body).toBe(
    'b:\n  c:\n    - 1\n    - d: text\n',
  );
});

test('an integer beyond 2^53 keeps its digits in both', () => {
  const data = parseJson('{"id":12345678901234567890}');
  expect(dataAnswer('json', data).body).toBe('{"id":12345678901234567890}\n');
  expect(dataAnswer('yaml', data).body).toBe('id: 12345678901234567890\n');
});
