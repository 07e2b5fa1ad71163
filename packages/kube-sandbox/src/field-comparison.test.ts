import { expect, test } from 'vitest';
import { builtInKind } from '../test/api-lab.ts';
import { appliedFields, compareFields } from './field-comparison.ts';
import { type FieldSet, pathString } from './field-set.ts';
import type { Fields } from './json-access.ts';
import { MergeType } from './merge-type.ts';

const type = MergeType.ofKind(builtInKind('Pod'));

function texts(set: FieldSet): readonly string[] {
  return [...set.paths].map(pathString).toSorted();
}

function compared(before: Fields, after: Fields): object {
  const { added, modified, removed } = compareFields(before, after, type);
  return { added: texts(added), modified: texts(modified), removed: texts(removed) };
}

test('scalars are added, modified and removed', () => {
  expect(compared({ spec: { a: 1, b: 2, d: 4 } }, { spec: { a: 1, b: 3, c: 4 } })).toEqual({
    added: ['.spec.c'],
    modified: ['.spec.b'],
    removed: ['.spec.d'],
  });
});

test('a new object is added with everything in it', () => {
  expect(compared({}, { data: { a: '1' } })).toEqual({
    added: ['.data', '.data.a'],
    modified: [],
    removed: [],
  });
});

test('an empty object is a leaf', () => {
  expect(compared({ spec: {} }, { spec: { volume: {} } })).toMatchObject({ added: ['.spec.volume'] });
  expect(compared({ data: { a: '1' } }, { data: {} })).toMatchObject({ removed: ['.data.a'] });
});

test('elements of a list are compared by key', () => {
  const before = { spec: { containers: [{ name: 'a', image: 'x' }, { name: 'b' }] } };
  const after = { spec: { containers: [{ name: 'c' }, { name: 'a', image: 'y' }] } };
  expect(compared(before, after)).toEqual({
    added: ['.spec.containers[name="c"]', '.spec.containers[name="c"].name'],
    modified: ['.spec.containers[name="a"].image'],
    removed: ['.spec.containers[name="b"]', '.spec.containers[name="b"].name'],
  });
});

test('a list without keys and an atomic object are one field', () => {
  const before = { spec: { tolerations: [{ key: 'a' }], containers: [{ name: 'a', args: ['x'] }] } };
  const after = { spec: { tolerations: [{ key: 'b' }], containers: [{ name: 'a', args: ['y'] }] } };
  expect(compared(before, after)).toMatchObject({
    modified: ['.spec.containers[name="a"].args', '.spec.tolerations'],
  });
  expect(compared({ spec: {} }, { spec: { nodeSelector: { a: 'b' } } })).toMatchObject({
    added: ['.spec.nodeSelector'],
  });
});

test('a change of type is one modification', () => {
  expect(compared({ spec: { x: { a: 1 } } }, { spec: { x: [1] } })).toMatchObject({ modified: ['.spec.x'] });
});

test('sets are compared by value', () => {
  const before = { metadata: { finalizers: ['a', 'b'] } };
  expect(compared(before, { metadata: { finalizers: ['b', 'c'] } })).toEqual({
    added: ['.metadata.finalizers[="c"]'],
    modified: [],
    removed: ['.metadata.finalizers[="a"]'],
  });
});

test('an applied configuration owns its leaves and list elements', () => {
  const configuration = {
    metadata: { labels: { app: 'a' } },
    spec: {
      containers: [{ name: 'a', ports: [{ containerPort: 80 }], args: ['x'] }],
      volumes: [],
      nodeSelector: { a: 'b' },
    },
  };
  expect(texts(appliedFields(configuration, type))).toEqual([
    '.metadata.labels.app',
    '.spec.containers[name="a"]',
    '.spec.containers[name="a"].args',
    '.spec.containers[name="a"].name',
    '.spec.containers[name="a"].ports[containerPort=80,protocol="TCP"]',
    '.spec.containers[name="a"].ports[containerPort=80,protocol="TCP"].containerPort',
    '.spec.nodeSelector',
    '.spec.volumes',
  ]);
});
