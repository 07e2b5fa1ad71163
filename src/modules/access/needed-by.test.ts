import { expect, test } from 'vitest';
import type { KubernetesBindingSpec } from '../../hook-config/kubernetes-binding.ts';
import {
  accessOfBinding,
  accessOfObject,
  accessOfPods,
  accessOfSecrets,
  createdNamespace,
  definedResource,
  groupKindOf,
} from './needed-by.ts';

const RBAC = 'rbac.authorization.k8s.io';
const DEPLOYING = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

const inNamespaces = (group: string, plural: string) => ({ group, plural, isNamespaced: true });
const clusterWide = (group: string, plural: string) => ({ group, plural, isNamespaced: false });

test.each([
  ['where its manifest says', { metadata: { namespace: 'web' } }, 'web'],
  ['in the namespace of the operator when it names none', { metadata: { name: 'a' } }, 'ours'],
  ['in the namespace of the operator without metadata', {}, 'ours'],
])('an object needs what helm and the look after it need, %s', (_, object, namespace) => {
  expect(accessOfObject(object, inNamespaces('apps', 'deployments'), 'ours')).toEqual([
    { group: 'apps', resource: 'deployments', verbs: DEPLOYING, namespace },
  ]);
});

test('a cluster-scoped object needs access everywhere, with any namespace in its manifest', () => {
  const object = { kind: 'Namespace', metadata: { name: 'web', namespace: 'web' } };
  expect(accessOfObject(object, clusterWide('', 'namespaces'), 'ours')).toEqual([
    { group: '', resource: 'namespaces', verbs: DEPLOYING },
  ]);
});

test.each([
  ['Role', inNamespaces(RBAC, 'roles'), { namespace: 'web' }],
  ['ClusterRole', clusterWide(RBAC, 'clusterroles'), {}],
])('to create a %s the access that it grants is needed, where it grants it', (kind, resource, place) => {
  const rules = [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['create'] }];
  expect(accessOfObject({ kind, metadata: { namespace: 'web' }, rules }, resource, 'ours')).toEqual([
    { group: RBAC, resource: resource.plural, verbs: DEPLOYING, ...place },
    { group: '', resource: 'pods/exec', verbs: ['create'], ...place },
  ]);
});

test.each([
  ['RoleBinding', inNamespaces(RBAC, 'rolebindings'), { namespace: 'ours' }],
  ['ClusterRoleBinding', clusterWide(RBAC, 'clusterrolebindings'), {}],
])('to create a %s the permission to bind its role is needed there', (kind, resource, place) => {
  const binding = { kind, roleRef: { kind: 'ClusterRole', name: 'view' } };
  expect(accessOfObject(binding, resource, 'ours')).toEqual([
    { group: RBAC, resource: resource.plural, verbs: DEPLOYING, ...place },
    { group: RBAC, resource: 'clusterroles', verbs: ['bind'], names: ['view'], ...place },
  ]);
});

test('a rendered Namespace makes a namespace, and nothing else does', () => {
  const metadata = { name: 'web' };
  expect(createdNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata })).toBe('web');
  expect(createdNamespace({ apiVersion: 'example.com/v1', kind: 'Namespace', metadata })).toBeUndefined();
  expect(createdNamespace({ apiVersion: 'v1', kind: 'Pod', metadata })).toBeUndefined();
});

test('pods are listed in the namespaces of workloads', () => {
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } };
  const elsewhere = { ...deployment, metadata: { name: 'db', namespace: 'data' } };
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'other' } };
  const pods = { group: '', resource: 'pods', verbs: ['list'] };
  expect(accessOfPods([deployment, elsewhere, deployment, config], 'ours')).toEqual([
    { ...pods, namespace: 'ours' },
    { ...pods, namespace: 'data' },
  ]);
});

test('a kind that its chart defines is found by group and kind', () => {
  const definition = {
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'stable.example.com',
      scope: 'Namespaced',
      names: { kind: 'CronTab', plural: 'crontabs' },
    },
  };
  expect(definedResource(definition)).toEqual({
    key: 'stable.example.com/CronTab',
    group: 'stable.example.com',
    plural: 'crontabs',
    isNamespaced: true,
  });
  expect(groupKindOf({ apiVersion: 'stable.example.com/v1', kind: 'CronTab' })).toBe(
    'stable.example.com/CronTab',
  );
  expect(groupKindOf({ apiVersion: 'v1', kind: 'Pod' })).toBe('/Pod');
  expect(definedResource({ kind: 'Pod' })).toBeUndefined();
});

const reference = (namespace: string, name: string) => ({ namespace, name, key: 'k', isOptional: false });

test('Secrets of other namespaces have to be listed and watched by name there, those of our own need nothing', () => {
  const references = [reference('ours', 'a'), reference('theirs', 'b'), reference('others', 'b')];
  expect(accessOfSecrets(references, 'ours')).toEqual([
    { group: '', resource: 'secrets', verbs: ['list', 'watch'], names: ['b'], namespace: 'theirs' },
    { group: '', resource: 'secrets', verbs: ['list', 'watch'], names: ['b'], namespace: 'others' },
  ]);
});

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

test('cluster-scoped objects are watched everywhere, with any namespace in the binding', () => {
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
