import { expect, test } from 'vitest';
import { convertedObjectsProblem } from './converted-objects-problem.ts';

const box = (name: string, fields: object = {}, metadata: object = {}) => ({
  apiVersion: 'acme.io/v1',
  kind: 'Box',
  metadata: { name, namespace: 'x', uid: `uid-${name}`, ...metadata },
  ...fields,
});

const before = [box('a'), box('b')];

test('versions, fields, labels and annotations may change', () => {
  const after = [
    box('a', { apiVersion: 'acme.io/v2', spec: { n: 1 } }, { labels: { l: '1' }, annotations: {} }),
    box('b', { apiVersion: 'acme.io/v2' }),
  ];
  expect(convertedObjectsProblem(before, after)).toBeUndefined();
});

test('objects without uid and namespace are compared by name', () => {
  const plain = [{ kind: 'Box', metadata: { name: 'a' } }];
  expect(convertedObjectsProblem(plain, plain)).toBeUndefined();
});

test.each([
  ['fewer objects', [box('a')], 'returned 1 objects instead of 2'],
  ['more objects', [...before, box('c')], 'returned 3 objects instead of 2'],
  ['no object', [box('a'), 'b'], 'returned no object at position 1'],
  [
    'another order',
    [box('b'), box('a')],
    "changed metadata.name of 'a' from 'a' to 'b', or the order of the objects",
  ],
  [
    'another uid',
    [box('a', {}, { uid: 'new' }), box('b')],
    "changed metadata.uid of 'a' from 'uid-a' to 'new'",
  ],
  ['another namespace', [box('a', {}, { namespace: 'y' }), box('b')], "changed metadata.namespace of 'a'"],
  ['no metadata', [{ kind: 'Box' }, box('b')], "changed metadata.name of 'a' from 'a' to ''"],
  ['another kind', [box('a', { kind: 'Crate' }), box('b')], "changed the kind of 'a' from Box to Crate"],
])('%s is a problem', (_what, after, expected) => {
  expect(convertedObjectsProblem(before, after)).toContain(expected);
});
