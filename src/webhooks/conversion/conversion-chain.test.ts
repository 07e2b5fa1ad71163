import { expect, test } from 'vitest';
import { findConversionChain, isSameVersion } from './conversion-chain.ts';

test.each([
  ['v1', 'v1', true],
  ['acme.io/v1', 'acme.io/v1', true],
  ['v1', 'acme.io/v1', true],
  ['acme.io/v1', 'v1', true],
  ['a/v1', 'b/v1', false],
  ['v1', 'v1beta1', false],
  ['v1', 'acme.io/v1beta1', false],
  ['acme.io/v1', 'acme.io/v1beta1', false],
  ['v2', 'acme.io/v1', false],
  ['1', 'acme.io/v1', false],
])('%s and %s are the same version: %j', (a, b, expected) => {
  expect(isSameVersion(a, b)).toBe(expected);
});

/** Rules and chains as `from→to`. */
function chain(rules: readonly string[], from: string, to: string): readonly string[] | undefined {
  const parsed = rules.map((text) => {
    const [fromVersion = '', toVersion = ''] = text.split('→');
    return { fromVersion, toVersion };
  });
  return findConversionChain(parsed, from, to)?.map((rule) => `${rule.fromVersion}→${rule.toVersion}`);
}

test.each([
  ['one rule', ['v1→v2'], 'g/v1', 'g/v2', ['v1→v2']],
  ['several steps', ['a1→a2', 'a2→b1', 'b1→v1'], 'g/a1', 'g/v1', ['a1→a2', 'a2→b1', 'b1→v1']],
  ['a short cut', ['a1→a2', 'a2→b1', 'b1→v1', 'g/a1→g/b1'], 'g/a1', 'g/v1', ['g/a1→g/b1', 'b1→v1']],
  ['a direct rule before steps', ['v1→v2', 'v2→v3', 'v1→v3'], 'g/v1', 'g/v3', ['v1→v3']],
  ['the other direction', ['v1→v2'], 'g/v2', 'g/v1', undefined],
  ['nobody who makes the version', ['v1→v2'], 'g/v1', 'g/v3', undefined],
  ['nobody who takes the version', ['v2→v3'], 'g/v1', 'g/v3', undefined],
  ['a gap', ['v1→v2', 'v3→v4'], 'g/v1', 'g/v4', undefined],
  ['no rules', [], 'g/v1', 'g/v2', undefined],
  ['nothing to do', ['v1→v2', 'v2→v1'], 'g/v1', 'g/v1', undefined],
  ['nothing to do, in short', ['v1→v2', 'v2→v1'], 'g/v1', 'v1', undefined],
  ['a circle', ['v1→v2', 'v2→v1', 'v2→v3', 'v3→v2', 'v3→v4'], 'g/v1', 'g/v4', ['v1→v2', 'v2→v3', 'v3→v4']],
  ['only a circle', ['v1→v2', 'v2→v1'], 'g/v1', 'g/v3', undefined],
  ['no mistaking v1 for v1beta1', ['v1alpha1→v1', 'v1beta1→v2'], 'g/v1alpha1', 'g/v2', undefined],
  ['another group in the middle', ['g/v1→old.io/v1', 'new.io/v1→g/v2'], 'g/v1', 'g/v2', undefined],
  [
    'a change of the group that keeps the version',
    [
      'unstable.io/v1alpha1→unstable.io/v1beta1',
      'unstable.io/v1beta1→stable.io/v1beta1',
      'stable.io/v1beta1→stable.io/v1',
    ],
    'unstable.io/v1beta1',
    'stable.io/v1',
    ['unstable.io/v1beta1→stable.io/v1beta1', 'stable.io/v1beta1→stable.io/v1'],
  ],
  ['the first of equally short chains', ['v1→a', 'v1→b', 'b→v2', 'a→v2'], 'g/v1', 'g/v2', ['v1→a', 'a→v2']],
] as const)('%s', (_what, rules, from, to, expected) => {
  expect(chain(rules, from, to)).toEqual(expected);
});

test.each([
  [['v1→v2', 'v1→g/v2', 'g/v1→v2', 'g/v1→g/v2'], 'g/v1→g/v2'],
  [['v1→v2', 'g/v1→v2', 'v1→g/v2'], 'v1→g/v2'],
  [['v1→v2', 'g/v1→v2'], 'g/v1→v2'],
  [['v1→v2'], 'v1→v2'],
])('of the direct rules %j, %s says most', (rules, expected) => {
  expect(chain(rules, 'g/v1', 'g/v2')).toEqual([expected]);
});
