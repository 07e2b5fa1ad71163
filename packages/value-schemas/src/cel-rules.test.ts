import type { Json, JsonObject } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { parseCelRules } from './cel-rules.ts';

const rule = (expression: string, message = 'broken'): JsonObject => ({ expression, message });
const rulesOf = (...rules: readonly Json[]): JsonObject => ({ 'x-deckhouse-validations': rules });

function problems(
  schema: JsonObject,
  value: JsonObject,
  { previous, unknown = [] }: { readonly previous?: JsonObject; readonly unknown?: readonly string[] } = {},
): readonly string[] | undefined {
  return parseCelRules(schema)?.problems(value, { previous, unknown });
}

test('a schema without rules has none', () => {
  expect(parseCelRules({ type: 'object', properties: { a: { type: 'string' } } })).toBeUndefined();
});

test.each<readonly [string, JsonObject, boolean]>([
  ['self.min <= self.max', { min: 1, max: 2 }, true],
  ['self.min <= self.max', { min: 3, max: 2 }, false],
  ['self.replicas == 2', { replicas: 2 }, true],
  ['self.replicas + 1.0 == 3.0', { replicas: 2 }, true],
  ['size(self.names) <= self.limit', { names: ['a', 'b'], limit: 1 }, false],
  ['self.mode in ["a", "b"]', { mode: 'c' }, false],
  ['!has(self.tls) || has(self.host)', { tls: {} }, false],
  ['self.names.all(n, n.startsWith("x-"))', { names: ['x-a', 'x-b'] }, true],
  ['self.name.matches("^[a-z]+$")', { name: 'A' }, false],
  ['self.names.all(n, n.matches("(?i)^[a-z]+$"))', { names: ['A', '1'] }, false],
  [
    'self.names.map(n, n.matches("^a") && n.matches(self.p)).exists(m, m)',
    { names: ['ab'], p: '\\pLb\\z' },
    true,
  ],
  ['self.name.matches("^([a-z0-9]+-?)+$")', { name: `${'a'.repeat(100_000)}!` }, false],
  ['self.labels["a.b/c"] == "d"', { labels: { 'a.b/c': 'd' } }, true],
  ['self.absent == 1', {}, true],
  ['self.tls.absent == 1', { tls: {} }, true],
  ['self.__proto__ == 1', {}, true],
])('%s', (expression, value, isValid) => {
  expect(problems(rulesOf(rule(expression)), value)).toEqual(isValid ? [] : ['broken']);
});

test('every broken rule is reported, each text once', () => {
  const schema = rulesOf(
    rule('false', 'one'),
    rule('true', 'two'),
    rule('self.a == 2', 'three'),
    rule('false', 'one'),
  );
  expect(problems(schema, { a: 1 })).toEqual(['one', 'three']);
});

test('rules of properties, of items and of properties that are not listed see the value there', () => {
  const schema: JsonObject = {
    properties: {
      pools: { items: rulesOf(rule('self.min <= self.max', 'min of a pool')) },
      tls: { ...rulesOf(rule('has(self.key)', 'no key')) },
    },
    additionalProperties: rulesOf(rule('self.on', 'not on')),
  };
  const value = { pools: [{ min: 1, max: 2 }, { min: 2, max: 1 }, 'no map'], tls: {}, other: { on: false } };
  expect(problems(schema, value)).toEqual(['min of a pool', 'no key', 'not on']);
  expect(problems(schema, { tls: 'no map' })).toEqual([]);
});

test('rules that look back are skipped where nothing was before', () => {
  const schema: JsonObject = {
    ...rulesOf(rule('self.size >= oldSelf.size', 'shrunk')),
    properties: { disk: rulesOf(rule('self.size >= oldSelf.size', 'disk shrunk')) },
  };
  const value = { size: 1, disk: { size: 1 } };
  expect(problems(schema, value)).toEqual([]);
  expect(problems(schema, value, { previous: { size: 2 } })).toEqual(['shrunk']);
  expect(problems(schema, value, { previous: { size: 1, disk: { size: 2 } } })).toEqual(['disk shrunk']);
});

test('a rule that may look at an unknown value is skipped', () => {
  const schema: JsonObject = {
    ...rulesOf(rule('self.a == 1', 'all')),
    properties: { 'b/c': rulesOf(rule('self.d == 1', 'inner')), e: rulesOf(rule('self.f == 1', 'other')) },
  };
  const value = { a: 2, 'b/c': { d: null }, e: { f: 2 } };
  expect(problems(schema, value, { unknown: ['/b~1c/d'] })).toEqual(['other']);
  expect(problems(schema, value)).toEqual(['all', 'inner', 'other']);
});

test.each([
  ['self.a % 2 == 0', "evaluate the 'self.a % 2 == 0' rule: no such overload: dyn<double> % int"],
  ['self.b', "evaluate the 'self.b' rule: it should return a bool"],
])('a rule that cannot be judged says why: %s', (expression, problem) => {
  expect(problems(rulesOf(rule(expression)), { a: 1, b: 'text' })).toEqual([problem]);
});

test.each([
  ['bool(self.b)', 'bool conversion error'],
  ['duration(self.b) > duration("1s")', 'invalid duration'],
  ['"text".matches(self.b)', 'invalid regular expression'],
  ['dyn(1).matches(self.b)', "found no matching overload for 'int.matches(string)'"],
])('a rule that cannot be judged does not show the value: %s', (expression, why) => {
  expect(problems(rulesOf(rule(expression)), { b: '(hunter2' })).toEqual([
    `evaluate the '${expression}' rule: ${why}`,
  ]);
});

test.each<readonly [string, JsonObject, string]>([
  [
    'no list',
    { 'x-deckhouse-validations': {} },
    'x-deckhouse-validations invalid: a list of rules is expected',
  ],
  ['no map', rulesOf('self.a'), 'x-deckhouse-validations invalid: each rule is a map'],
  ['no expression', rulesOf({ message: 'm' }), 'x-deckhouse-validations invalid: missing expression'],
  [
    'no message',
    rulesOf({ expression: 'true', message: '' }),
    'x-deckhouse-validations invalid: missing message',
  ],
  ['no CEL', rulesOf(rule('self.a >')), "compile the 'self.a >' rule: Unexpected token: EOF"],
  [
    'an unknown variable',
    rulesOf(rule('other == 1')),
    "compile the 'other == 1' rule: Unknown variable: other",
  ],
  [
    'a pattern that Go does not have',
    rulesOf(rule('self.a.matches("(?=a)")')),
    'compile the \'self.a.matches("(?=a)")\' rule: invalid or unsupported Perl syntax: `(?=`',
  ],
  ['no bool', rulesOf(rule('"text"')), 'a rule must be a bool, this is a string'],
])('a schema is refused with %s', (_what, schema, message) => {
  expect(() => parseCelRules({ properties: { inner: schema } })).toThrow(message);
});
