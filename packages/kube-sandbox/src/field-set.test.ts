import { expect, test } from 'vitest';
import { childPath, FieldSet, pathElements, pathString } from './field-set.ts';

const FIELDS = {
  'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
  'f:spec': {
    'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {} } },
    'f:finalizers': { 'v:"x"': {} },
  },
};

function setOf(...paths: readonly (readonly string[])[]): FieldSet {
  return new FieldSet(new Set(paths.map((elements) => elements.reduce(childPath, ''))));
}

test('parse() and toFieldsV1() are each other reversed', () => {
  expect(FieldSet.parse(FIELDS).toFieldsV1()).toEqual(FIELDS);
  expect(FieldSet.parse({}).isEmpty).toBe(true);
  expect(FieldSet.parse(undefined).isEmpty).toBe(true);
});

test('a field with children is a member only where it says so', () => {
  const set = FieldSet.parse(FIELDS);
  expect(set.has(['f:metadata', 'f:labels'].reduce(childPath))).toBe(true);
  expect(set.has('f:metadata')).toBe(false);
});

test('sets are united, intersected, subtracted and compared', () => {
  const left = setOf(['f:a'], ['f:b']);
  const right = setOf(['f:b'], ['f:c']);
  expect(left.union(right).equals(setOf(['f:a'], ['f:b'], ['f:c']))).toBe(true);
  expect(left.intersection(right).equals(setOf(['f:b']))).toBe(true);
  expect(left.difference(right).equals(setOf(['f:a']))).toBe(true);
  expect(left.equals(right)).toBe(false);
});

test('withNamedParents() adds the fields above, but no list elements', () => {
  const set = setOf(['f:spec', 'f:containers', 'k:{"name":"a"}', 'f:image']).withNamedParents();
  expect([...set.paths].map(pathString).toSorted()).toEqual([
    '.spec',
    '.spec.containers',
    '.spec.containers[name="a"].image',
  ]);
});

test('pathString() shows fields, keys and values', () => {
  expect(pathString(['f:a', 'k:{"containerPort":80,"protocol":"TCP"}', 'f:b'].reduce(childPath, ''))).toBe(
    '.a[containerPort=80,protocol="TCP"].b',
  );
  expect(pathString(['f:a', 'v:"x"'].reduce(childPath, ''))).toBe('.a[="x"]');
  expect(pathElements(childPath('f:a', 'f:b'))).toEqual(['f:a', 'f:b']);
});
