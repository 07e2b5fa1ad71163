import { expect, test } from 'vitest';
import type { KubernetesBindingSpec } from '../../hooks/kubernetes-binding.ts';
import { accessOfBinding } from './hook-access.ts';

const PODS = { group: '', plural: 'pods', isNamespaced: true };
const watching = { group: '', resource: 'pods', verbs: ['list', 'watch'] };
const namespaces = { group: '', resource: 'namespaces', verbs: ['list', 'watch'] };

const CASES: readonly (readonly [string, Partial<KubernetesBindingSpec>, readonly object[]])[] = [
  ['all namespaces', {}, [watching]],
  ['all namespaces by an empty list', { namespace: { nameSelector: [] } }, [watching]],
  [
    'the namespaces that are named, each once',
    { namespace: { nameSelector: ['a', 'b', 'a'] } },
    [
      { ...watching, namespace: 'a' },
      { ...watching, namespace: 'b' },
    ],
  ],
  [
    'namespaces by label, which may be any, whatever names stand beside',
    { namespace: { nameSelector: ['a'], labelSelector: { matchLabels: { x: 'y' } } } },
    [watching, namespaces],
  ],
  [
    'objects by name',
    { nameSelector: ['p', 'q'], namespace: { nameSelector: ['a'] } },
    [{ ...watching, names: ['p', 'q'], namespace: 'a' }],
  ],
];

test.each(CASES)('a binding watches %s', (_, watch, access) => {
  const spec = { name: 'b', kind: 'Pod', keepFullObjects: true, executeOnEvents: [], ...watch };
  expect(accessOfBinding({ watch: spec }, PODS)).toEqual(access);
});

test('objects that are in no namespace are watched everywhere, whatever the binding names', () => {
  const watch = {
    name: 'b',
    kind: 'Node',
    keepFullObjects: true,
    executeOnEvents: [],
    namespace: { nameSelector: ['a'] },
  };
  expect(accessOfBinding({ watch }, { group: '', plural: 'nodes', isNamespaced: false })).toEqual([
    { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  ]);
});
