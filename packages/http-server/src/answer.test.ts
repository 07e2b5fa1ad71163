import { Redactor } from '@addon-operator/base/redactor';
import { parseJson } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { dataAnswer, redactedAnswer, textAnswer } from './answer.ts';

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

function redactorOf(...secrets: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

test('secrets are taken out of texts and of YAML', () => {
  const redactor = redactorOf('hunter2');
  expect(redactedAnswer(textAnswer('a hunter2\n'), redactor).body).toBe('a ***\n');
  expect(redactedAnswer(dataAnswer('yaml', { a: 'hunter2' }), redactor).body).not.toContain('hunter2');
});

test('JSON stays JSON when a secret looks like a part of it', () => {
  const redactor = redactorOf('true', '12345', 'name');
  const answer = dataAnswer('json', { name: 'name', on: true, n: 123456, text: 'x12345' });
  expect(redactedAnswer(answer, redactor).body).toBe('{"***":"***","on":true,"n":123456,"text":"x***"}\n');
});

test('integers beyond 2^53 stay as they are', () => {
  const answer = { ...dataAnswer('json', {}), body: '{"n":9007199254740993,"s":"hunter2"}\n' };
  expect(redactedAnswer(answer, redactorOf('hunter2')).body).toBe('{"n":9007199254740993,"s":"***"}\n');
});
