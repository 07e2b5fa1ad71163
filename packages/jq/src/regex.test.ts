import { setFlagsFromString } from 'node:v8';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askBuiltin } from '../test/ask-jq.ts';

/** Matches of jq 1.8.2, as text, for a letter. */
const CASES = [
  ['^(?-i)|q+', 'i', 'qQ', ['']],
  ['x|(?-i:q+)', 'i', 'qQ', ['q']],
  ['x|(?i:q+)', '', 'qQ', ['qQ']],
  ['(?i:q+)|b', '', 'Bb', ['b']],
  ['(?i:[q])[b]', '', 'QBQb', ['Qb']],
  ['(q)(?i:\\1)|c', '', 'qQCc', ['qQ', 'c']],
] as const;

/**
 * V8 stops to optimize regular expressions when a process has compiled a megabyte of them, and then applies the case of a
 * group to others. It keeps what it has compiled, so each mode has a letter of its own.
 */
describe.each([
  ['regexp-optimization', 'q'],
  ['no-regexp-optimization', 'z'],
])('with --%s of V8', (flag, letter) => {
  beforeAll(() => setFlagsFromString(`--${flag}`));
  afterAll(() => setFlagsFromString('--regexp-optimization'));

  test.each(CASES)('the case of a part of %s, with the flags "%s", stays there', async (...row) => {
    const [regex, flags, text, matches] = JSON.parse(
      JSON.stringify(row).replaceAll('q', letter).replaceAll('Q', letter.toUpperCase()),
    ) as [string, string, string, readonly string[]];
    const program = '. as [$regex, $flags, $text] | [$text | match($regex; $flags) | .string]';
    const response = await askBuiltin()(program, JSON.stringify([regex, `g${flags}`, text]));
    expect(JSON.parse(response)[0]).toEqual(matches);
  });
});
