import { load, loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { rbacText } from './rbac-text.ts';

const nodes = { apiGroups: [''], resources: ['nodes'], verbs: ['list'] };
const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const grants = {
  everywhere: [nodes],
  namespaces: new Map([
    ['ours', [pods]],
    ['web', [nodes, pods]],
  ]),
};

const apiVersion = 'rbac.authorization.k8s.io/v1';
const name = 'addon-operator-modules';
const ROLES = [
  { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: [nodes] },
  { apiVersion, kind: 'Role', metadata: { name, namespace: 'ours' }, rules: [pods] },
  { apiVersion, kind: 'Role', metadata: { name, namespace: 'web' }, rules: [nodes, pods] },
];

test('as YAML the ClusterRole comes first, then a Role for each namespace', () => {
  const text = rbacText(grants, 'yaml', 'ours');
  expect(loadAll(text)).toEqual(ROLES);
  expect(text).not.toContain('&');
});

test('as JSON the same objects are a List', () => {
  expect(JSON.parse(rbacText(grants, 'json', 'ours'))).toEqual({
    apiVersion: 'v1',
    kind: 'List',
    items: ROLES,
  });
});

test('as a table each rule is a row, wide with groups and names', () => {
  const [head, ...rows] = rbacText(grants, 'wide', 'ours').trimEnd().split('\n');
  expect(head?.split(/ {2,}/)).toEqual(['KIND', 'NAMESPACE', 'RESOURCES', 'VERBS', 'API GROUPS', 'NAMES']);
  expect(rows.map((row) => row.trim().split(/ {2,}/))).toEqual([
    ['ClusterRole', 'nodes', 'list', 'core'],
    ['Role', 'ours', 'pods', 'get', 'core'],
    ['Role', 'web', 'nodes', 'list', 'core'],
    ['Role', 'web', 'pods', 'get', 'core'],
  ]);
  expect(rbacText(grants, 'table', 'ours')).toBe(rbacText(grants, 'text', 'ours'));
  expect(rbacText(grants, 'name', 'ours')).toBe(`clusterrole/${name}\nrole/${name}\nrole/${name}\n`);
});

test('values for the chart keep the namespace of the operator apart from others', () => {
  expect(load(rbacText(grants, 'values', 'ours'))).toEqual({
    rbac: { rules: [nodes], namespaceRules: [pods], rulesByNamespace: { web: [nodes, pods] } },
  });
  expect(load(rbacText({ everywhere: [], namespaces: new Map() }, 'values', 'ours'))).toEqual({
    rbac: { rules: [], namespaceRules: [], rulesByNamespace: {} },
  });
});
