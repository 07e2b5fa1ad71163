import { expect, test } from 'vitest';
import { builtInKind } from '../test/api-lab.ts';
import { MergeType } from './merge-type.ts';

const pod = MergeType.ofKind(builtInKind('Pod'));

test('a field is merged as its property and its type say, the property first', () => {
  const spec = pod.field('spec');
  expect(spec.field('nodeSelector').isAtomic).toBe(true);
  expect(spec.field('imagePullSecrets').item.isAtomic).toBe(true);
  expect(spec.field('containers')).toMatchObject({ keys: ['name'], mergeKey: 'name', isAtomic: false });
  expect(pod.field('metadata').field('finalizers')).toMatchObject({ isSet: true, mergeKey: '' });
  const budget = MergeType.ofKind(builtInKind('PodDisruptionBudget'));
  expect(budget.field('spec').field('selector')).toMatchObject({ isAtomic: true, isReplaced: true });
  const volume = MergeType.ofKind(builtInKind('PersistentVolume'));
  // The type of the reference is atomic, but not here.
  expect(volume.field('spec').field('claimRef').isAtomic).toBe(false);
});

test('custom resources have the metadata of all objects, and what their schema says', () => {
  const schema = {
    properties: {
      parts: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] },
      limits: { additionalProperties: { 'x-kubernetes-map-type': 'atomic' } },
    },
  };
  const type = MergeType.ofKind({ ...builtInKind('Pod'), isCustom: true, schema });
  expect(type.field('metadata').field('ownerReferences').keys).toEqual(['uid']);
  expect(type.field('parts')).toMatchObject({ keys: ['id'], isMergedList: true });
  expect(type.field('limits').field('any').isAtomic).toBe(true);
});

test('what is nested deeper than 100 levels is owned as a whole', () => {
  let type = MergeType.ofKind({ ...builtInKind('Pod'), isCustom: true });
  for (let level = 0; level < 100; level += 1) type = type.field('x');
  expect([type.isAtomic, type.field('x').isAtomic]).toEqual([false, true]);
});
