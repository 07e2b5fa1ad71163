import type { Json, JsonObject } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { referencesIn, resolveSecrets, type SecretLookup } from './resolve-secrets.ts';

const ref = (fields: Json): JsonObject => ({ valueFrom: { secretKeyRef: fields } });
const db = ref({ name: 'db', key: 'pw' });
const none = ref({ name: 'none', key: 'k' });
const optional = ref({ name: 'none', key: 'k', optional: true });

const secrets: SecretLookup = {
  namespace: 'ours',
  lookup: ({ namespace, name, key }) =>
    name === 'db'
      ? { type: 'known', text: `${namespace}/${name}/${key}` }
      : { type: 'absent', why: 'there is none' },
};

test('references at any depth become texts, in the namespace they name or in ours', () => {
  const there = ref({ namespace: 'theirs', name: 'db', key: 'pw' });
  expect(resolveSecrets({ a: db, b: { c: [there, 1] } }, secrets, 'absent')).toStrictEqual({
    values: { a: 'ours/db/pw', b: { c: ['theirs/db/pw', 1] } },
    unresolved: [],
  });
});

test('missing keys are left out, null in lists, and reported by pointer unless they are optional', () => {
  const why = 'key "k" of Secret ours/none: there is none';
  expect(resolveSecrets({ a: none, 'b/c': [none, optional], d: optional }, secrets, 'absent')).toStrictEqual({
    values: { 'b/c': [null, null] },
    unresolved: [
      { pointer: '/a', why },
      { pointer: '/b~1c/0', why },
    ],
  });
  expect(resolveSecrets({ a: none, d: optional }, secrets, 'null').values).toStrictEqual({ a: null });
});

test.each<[string, Json]>([
  ['further keys beside valueFrom', { name: 'X', ...db }],
  ['further sources', { valueFrom: { secretKeyRef: { name: 'db', key: 'pw' }, other: 1 } }],
  ['another source', { valueFrom: { configMapKeyRef: { name: 'db', key: 'pw' } } }],
  ['a text', { valueFrom: 'x' }],
])('a map with %s is plain data', (_case, value) => {
  expect(resolveSecrets({ value }, secrets, 'absent')).toStrictEqual({ values: { value }, unresolved: [] });
});

test.each<[Json, string]>([
  ['x', 'must be a map'],
  [{ name: 'db' }, 'needs name and key'],
  [{ name: 'db', key: '' }, 'needs name and key'],
  [{ name: 'db', key: 1 }, 'needs name and key'],
  [{ name: 'db', key: 'k', namespace: 1 }, 'namespace that is not a string'],
  [{ name: 'db', key: 'k', optional: 'yes' }, 'neither true nor false'],
  [{ name: 'db', key: 'k', kez: 1 }, 'unknown field "kez"'],
])('a malformed reference is explained: %j', (fields, why) => {
  const { unresolved } = resolveSecrets({ a: ref(fields) }, secrets, 'absent');
  expect(unresolved).toStrictEqual([{ pointer: '/a', why: expect.stringContaining(why) }]);
});

test('referencesIn() lists sound references only', () => {
  expect(referencesIn({ a: [db], b: ref('x'), c: optional }, 'ours')).toStrictEqual([
    { namespace: 'ours', name: 'db', key: 'pw', isOptional: false },
    { namespace: 'ours', name: 'none', key: 'k', isOptional: true },
  ]);
});
