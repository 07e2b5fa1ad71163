import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { expect, test } from 'vitest';
import { type Fate, fateOf } from './leftover-objects.ts';

const RELEASE = { release: 'web', namespace: 'ns' };
const OURS = { 'meta.helm.sh/release-name': 'web', 'meta.helm.sh/release-namespace': 'ns' };

test.each<[string, Record<string, unknown>, Fate, string?]>([
  ['carries the annotations of the release', { annotations: OURS }, 'delete'],
  ['is of another release', { annotations: { ...OURS, 'meta.helm.sh/release-name': 'other' } }, 'leave'],
  [
    'is of a release of this name in another namespace',
    { annotations: { ...OURS, 'meta.helm.sh/release-namespace': 'other' } },
    'leave',
  ],
  ['is to stay', { annotations: { ...OURS, 'helm.sh/resource-policy': ' Keep' } }, 'leave'],
  ['is being deleted', { annotations: OURS, deletionTimestamp: '2026-01-01T00:00:00Z' }, 'leave'],
  ['has no annotations', {}, { unclear: 'it does not name its release any more' }],
  [
    'names no namespace of a release',
    { annotations: { 'meta.helm.sh/release-name': 'web' } },
    { unclear: 'it does not name its release any more' },
  ],
  [
    'is owned by another object too',
    { annotations: OURS, ownerReferences: [{ name: 'a', uid: 'u' }] },
    { unclear: 'another object owns it as well' },
  ],
  ['has an empty list of owners', { annotations: OURS, ownerReferences: [] }, 'delete'],
  [
    'is a CustomResourceDefinition',
    { annotations: OURS },
    { unclear: 'all objects of its kind would go with it' },
    'CustomResourceDefinition',
  ],
])('fateOf() of an object that %s', (_case, metadata, fate, kind = 'ConfigMap') => {
  const object = { kind, metadata: { name: 'old', ...metadata } } as unknown as KubeObject;
  expect(fateOf(object, RELEASE)).toEqual(fate);
});
