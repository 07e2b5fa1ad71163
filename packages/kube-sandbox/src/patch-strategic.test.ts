import { expect, test } from 'vitest';
import { builtInKind } from '../test/api-lab.ts';
import type { Fields } from './json-access.ts';
import { MergeType } from './merge-type.ts';
import { applyStrategicPatch } from './patch-strategic.ts';
import { StatusError } from './status-error.ts';

const podSpec = {
  containers: [
    { name: 'a', image: 'one', env: [{ name: 'X', value: '1' }], args: ['p', 'q'] },
    { name: 'b', image: 'two' },
  ],
  volumes: [{ name: 'v', emptyDir: {} }],
  tolerations: [{ key: 'k' }],
};

function patchPod(spec: Fields): Fields {
  const type = MergeType.ofKind(builtInKind('Pod'));
  const patched = applyStrategicPatch({ spec: podSpec }, { spec }, type);
  return Object(patched['spec']);
}

function names(list: unknown): readonly string[] {
  return (list as readonly { readonly name: string }[]).map(({ name }) => name);
}

test('elements of a merged list are found by their key', () => {
  expect(patchPod({ containers: [{ name: 'b', image: 'three' }] })['containers']).toContainEqual({
    name: 'b',
    image: 'three',
  });
  expect(patchPod({ containers: [{ name: 'a', env: [{ name: 'Y', value: '2' }] }] })).toMatchObject({
    containers: [{ name: 'a', image: 'one', env: [{ name: 'Y' }, { name: 'X' }] }, { name: 'b' }],
  });
});

test('an element is taken out by its key', () => {
  expect(names(patchPod({ containers: [{ name: 'a', $patch: 'delete' }] })['containers'])).toEqual(['b']);
});

test('a list without merge key is replaced', () => {
  expect(patchPod({ containers: [{ name: 'a', args: ['r'] }] })).toMatchObject({
    containers: [{ args: ['r'] }, {}],
  });
  expect(patchPod({ tolerations: [] })['tolerations']).toEqual([]);
});

test('a list and an object can be replaced on demand', () => {
  expect(patchPod({ containers: [{ name: 'c' }, { $patch: 'replace' }] })['containers']).toEqual([
    { name: 'c' },
  ]);
  expect(
    patchPod({ volumes: [{ name: 'v', emptyDir: { $patch: 'replace', medium: 'Memory' } }] }),
  ).toMatchObject({
    volumes: [{ emptyDir: { medium: 'Memory' } }],
  });
  expect(patchPod({ $patch: 'delete' })).toEqual({});
});

test('null takes a field out', () => {
  expect(patchPod({ volumes: null })).not.toHaveProperty('volumes');
});

test('$retainKeys drops the other fields', () => {
  const volumes = [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }];
  expect(patchPod({ volumes })['volumes']).toEqual([{ name: 'v', hostPath: { path: '/x' } }]);
});

test('$setElementOrder sorts the elements it names, the others stay near their neighbours', () => {
  const order = [{ name: 'c' }, { name: 'b' }];
  const patched = patchPod({ containers: [{ name: 'c' }], '$setElementOrder/containers': order });
  expect(names(patched['containers'])).toEqual(['c', 'a', 'b']);
});

test('scalars of a merged list are added and taken out', () => {
  const type = MergeType.ofKind(builtInKind('Pod'));
  const pod = { metadata: { finalizers: ['a', 'b'] } };
  expect(applyStrategicPatch(pod, { metadata: { finalizers: ['b', 'c'] } }, type)).toEqual({
    metadata: { finalizers: ['a', 'b', 'c'] },
  });
  const removal = { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } };
  expect(applyStrategicPatch(pod, removal, type)).toEqual({ metadata: { finalizers: ['b'] } });
});

test('new parts hold no directives and no nulls', () => {
  expect(patchPod({ affinity: { nodeAffinity: null, podAffinity: { a: 1 } } })['affinity']).toEqual({
    podAffinity: { a: 1 },
  });
});

test('refuses an element without its key, and unknown directives', () => {
  expect(() => patchPod({ containers: [{ image: 'x' }] })).toThrow(
    'does not contain declared merge key: name',
  );
  expect(() => patchPod({ $patch: 'twist' })).toThrow(StatusError);
});

test('the patched object is a copy', () => {
  const before = structuredClone(podSpec);
  patchPod({ containers: [{ name: 'a', image: 'x' }], volumes: null });
  expect(podSpec).toEqual(before);
});
