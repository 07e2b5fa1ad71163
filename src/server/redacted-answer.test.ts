import { expect, test } from 'vitest';
import { Redactor } from '../lib/redactor.ts';
import { dataAnswer, textAnswer } from './answer.ts';
import { redactedAnswer } from './redacted-answer.ts';

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
