import { expect, test } from 'vitest';
import { hideCutSecrets } from './cut-secrets.ts';

const options = { hidden: '***', shortest: 4 };
const hide = (text: string): string => hideCutSecrets(text, ['correct-horse', 'battery'], options);

test.each([
  ['the beginning of a secret', 'token=correct-h…', 'token=***…'],
  ['the end of a secret', '…ct-horse is wrong', '…*** is wrong'],
  ['both sides of a cut in the middle', 'a correct…tery b', 'a ***…*** b'],
  ['a line that was cut', 'x batter:truncated', 'x ***:truncated'],
  ['a line that was cut, in JSON', '{"msg":"x batter:truncated","a":1}', '{"msg":"x ***:truncated","a":1}'],
  ['every cut of a text', 'corr…: batt…', '***…: ***…'],
  ['cuts of both kinds', '["batter:truncated","corr…"]', '["***:truncated","***…"]'],
])('hideCutSecrets() hides %s', (_what, text, expected) => {
  expect(hide(text)).toBe(expected);
});

test.each(['no cut', 'cor…', '…rse', 'correct-h', '', '…', 'correct h…', 'batter:truncated x'])(
  'hideCutSecrets() leaves "%s" as it is',
  (text) => {
    expect(hide(text)).toBe(text);
  },
);
