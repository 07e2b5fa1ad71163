import { expect, test } from 'vitest';
import { Redactor } from './redactor.ts';

const redactor = new Redactor();
for (const secret of ['correct-horse', 'battery', 'p&ss-wörd']) redactor.add(secret);

test.each([
  ['the beginning of a secret', 'token=correct-h…', 'token=***…'],
  ['the end of a secret', '…ct-horse is wrong', '…*** is wrong'],
  ['both sides of a cut in the middle', 'a correct…tery b', 'a ***…*** b'],
  ['a line that was cut', 'x batter:truncated', 'x ***:truncated'],
  ['a line that was cut, in JSON', '{"msg":"x batter:truncated","a":1}', '{"msg":"x ***:truncated","a":1}'],
  ['every cut of a text', 'corr…: batt…', '***…: ***…'],
  ['cuts of both kinds', '["batter:truncated","corr…"]', '["***:truncated","***…"]'],
  ['a cut within an escape', String.raw`{"a":"p\u0026ss-w\u00f…"}`, '{"a":"***…"}'],
  ['a cut within an encoded character', 'db://p%26ss-w%C3%B…', 'db://***…'],
  ['a cut behind an escape', String.raw`{"a":"p\u0026ss…"}`, '{"a":"***…"}'],
  ['the rest of an escape behind a cut', '{"a":"…026ss-wörd"}', '{"a":"…***"}'],
  ['a cut in base64', `${Buffer.from('correct-horse').toString('base64').slice(0, 11)}…`, '***…'],
])('what a cut has left of a secret is hidden: %s', (_what, text, expected) => {
  expect(redactor.text(text)).toBe(expected);
});

test.each(['no cut', 'cor…', '…rse', 'correct-h', '', '…', 'correct h…', 'batter:truncated x'])(
  '"%s" is left as it is',
  (text) => {
    expect(redactor.text(text)).toBe(text);
  },
);
