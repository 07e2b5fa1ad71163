import { expect, test } from 'vitest';
import { formatObjects, parseObjects } from './release-objects.ts';

const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: '', name: 'web' };

test('parseObjects() reads what formatObjects() wrote', () => {
  expect(parseObjects(formatObjects([object]))).toEqual([object]);
  expect(parseObjects(formatObjects([]))).toEqual([]);
});

test('formatObjects() gives nothing where it would be too long for an annotation', () => {
  expect(formatObjects(Array.from({ length: 3_000 }, () => object))).toBeUndefined();
});

test('parseObjects() does not trust what is not of its making', () => {
  for (const text of [undefined, 7, '', '{', '{}', '[1]', '[[1]]'])
    expect(parseObjects(text)).toBeUndefined();
});
