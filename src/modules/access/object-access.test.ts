import { expect, test } from 'vitest';
import { accessOfObject, definedResource, groupKindOf } from './object-access.ts';

const RBAC = 'rbac.authorization.k8s.io';
const DEPLOYING = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

test('an object needs what helm and the look after it need', () => {
  expect(accessOfObject({ kind: 'Deployment' }, { group: 'apps', plural: 'deployments' })).toEqual([
    { group: 'apps', resource: 'deployments', verbs: DEPLOYING },
  ]);
});

test('whoever creates a role must have what it grants', () => {
  const role = { kind: 'Role', rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['create'] }] };
  expect(accessOfObject(role, { group: RBAC, plural: 'roles' })).toEqual([
    { group: RBAC, resource: 'roles', verbs: DEPLOYING },
    { group: '', resource: 'pods/exec', verbs: ['create'] },
  ]);
});

test('whoever creates a binding must be allowed to bind its role', () => {
  const binding = { kind: 'RoleBinding', roleRef: { kind: 'ClusterRole', name: 'view' } };
  expect(accessOfObject(binding, { group: RBAC, plural: 'rolebindings' })).toEqual([
    { group: RBAC, resource: 'rolebindings', verbs: DEPLOYING },
    { group: RBAC, resource: 'clusterroles', verbs: ['bind'], names: ['view'] },
  ]);
});

test('a kind that its chart defines is found by group and kind', () => {
  const definition = {
    kind: 'CustomResourceDefinition',
    spec: { group: 'stable.example.com', names: { kind: 'CronTab', plural: 'crontabs' } },
  };
  expect(definedResource(definition)).toEqual({
    key: 'stable.example.com/CronTab',
    group: 'stable.example.com',
    plural: 'crontabs',
  });
  expect(groupKindOf({ apiVersion: 'stable.example.com/v1', kind: 'CronTab' })).toBe(
    'stable.example.com/CronTab',
  );
  expect(groupKindOf({ apiVersion: 'v1', kind: 'Pod' })).toBe('/Pod');
  expect(definedResource({ kind: 'Pod' })).toBeUndefined();
});
