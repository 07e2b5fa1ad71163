import { parseJson } from '@addon-operator/json';
import { Redactor } from '@addon-operator/masking/redactor';
import { expect, test } from 'vitest';
import { dataResponse, redactedResponse, textResponse } from './response.ts';

test('JSON is compact and ends its line', () => {
  expect(dataResponse('json', { b: 1, a: [null] })).toEqual({
    status: 200,
    contentType: 'application/json',
    body: '{"b":1,"a":[null]}\n',
  });
});

test('YAML is indented by two spaces', () => {
  expect(dataResponse('yaml', { b: { c: [1, { d: 'text' }] }, left: undefined }).body).toBe(
    'b:\n  c:\n    - 1\n    - d: text\n',
  );
});

test('an integer beyond 2^53 keeps its digits in both', () => {
  const data = parseJson('{"id":12345678901234567890}');
  expect(dataResponse('json', data).body).toBe('{"id":12345678901234567890}\n');
  expect(dataResponse('yaml', data).body).toBe('id: 12345678901234567890\n');
});

function redactorOf(...secrets: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

test('secrets are taken out of texts and of YAML', () => {
  const redactor = redactorOf('hunter2');
  expect(redactedResponse(textResponse('a hunter2\n'), redactor).body).toBe('a ***\n');
  expect(redactedResponse(dataResponse('yaml', { a: 'hunter2' }), redactor).body).not.toContain('hunter2');
});

test('JSON stays JSON when a secret looks like a part of it', () => {
  const redactor = redactorOf('true', '12345', 'name');
  const response = dataResponse('json', { name: 'name', on: true, n: 123456, text: 'x12345' });
  expect(redactedResponse(response, redactor).body).toBe(
    '{"***":"***","on":true,"n":123456,"text":"x***"}\n',
  );
});

test('a secret of several lines with quotes is taken out of JSON that shows it in one line', () => {
  const redactor = redactorOf('pass "word"\n second line');
  const response = dataResponse('json', { error: 'not pass "word" second line' });
  expect(redactedResponse(response, redactor).body).toBe('{"error":"not ***"}\n');
});

test('integers beyond 2^53 stay as they are', () => {
  const response = { ...dataResponse('json', {}), body: '{"n":9007199254740993,"s":"hunter2"}\n' };
  expect(redactedResponse(response, redactorOf('hunter2')).body).toBe('{"n":9007199254740993,"s":"***"}\n');
});
