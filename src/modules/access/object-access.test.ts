import { expect, test } from 'vitest';
import { accessOfObject, createdNamespace, definedResource, groupKindOf } from './object-access.ts';

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

test('an object that is in no namespace needs it everywhere, whatever namespace it names', () => {
  const object = { kind: 'Namespace', metadata: { name: 'web', namespace: 'web' } };
  expect(accessOfObject(object, clusterWide('', 'namespaces'), 'ours')).toEqual([
    { group: '', resource: 'namespaces', verbs: DEPLOYING },
  ]);
});

test.each([
  ['Role', inNamespaces(RBAC, 'roles'), { namespace: 'web' }],
  ['ClusterRole', clusterWide(RBAC, 'clusterroles'), {}],
])('whoever creates a %s must have what it grants, where it grants it', (kind, resource, place) => {
  const rules = [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['create'] }];
  expect(accessOfObject({ kind, metadata: { namespace: 'web' }, rules }, resource, 'ours')).toEqual([
    { group: RBAC, resource: resource.plural, verbs: DEPLOYING, ...place },
    { group: '', resource: 'pods/exec', verbs: ['create'], ...place },
  ]);
});

test.each([
  ['RoleBinding', inNamespaces(RBAC, 'rolebindings'), { namespace: 'ours' }],
  ['ClusterRoleBinding', clusterWide(RBAC, 'clusterrolebindings'), {}],
])('whoever creates a %s must be allowed to bind its role there', (kind, resource, place) => {
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
