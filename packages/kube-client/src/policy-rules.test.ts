import { expect, test } from 'vitest';
import { accessOfRules, policyRules, type ResourceAccess, SeenAccess } from './policy-rules.ts';

test('needs of one resource are joined, and resources with equal verbs share a rule', () => {
  const rules = policyRules([
    { group: 'apps', resource: 'deployments', verbs: ['watch', 'list'] },
    { group: '', resource: 'pods', verbs: ['list', 'watch'] },
    { group: '', resource: 'configmaps', verbs: ['watch', 'list'] },
    { group: 'apps', resource: 'deployments', verbs: ['get', 'list'] },
  ]);
  expect(rules).toEqual([
    { apiGroups: [''], resources: ['configmaps', 'pods'], verbs: ['list', 'watch'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch'] },
  ]);
});

test('access to single objects stays apart from access to all', () => {
  const rules = policyRules([
    { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verbs: ['bind'], names: ['view'] },
    { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verbs: ['get'] },
  ]);
  expect(rules).toEqual([
    {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles'],
      verbs: ['bind'],
      resourceNames: ['view'],
    },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['get'] },
  ]);
});

test('the order in which needs are found does not show', () => {
  const needs = [
    { group: 'b', resource: 'y', verbs: ['use', 'get'] },
    { group: 'a', resource: 'x', verbs: ['get'] },
  ];
  expect(policyRules(needs.toReversed())).toEqual(policyRules(needs));
  expect(policyRules(needs)[1]?.verbs).toEqual(['get', 'use']);
});

test('rules are taken apart into what they allow', () => {
  const access = accessOfRules([
    { apiGroups: ['', 'apps'], resources: ['pods'], verbs: ['get'], resourceNames: [] },
    { nonResourceURLs: ['/metrics'], verbs: ['get'] },
  ]);
  expect(access).toEqual([
    { group: '', resource: 'pods', verbs: ['get'] },
    { group: 'apps', resource: 'pods', verbs: ['get'] },
    { urls: ['/metrics'], verbs: ['get'] },
  ]);
  expect(policyRules(access)).toEqual([
    { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
    { apiGroups: ['apps'], resources: ['pods'], verbs: ['get'] },
    { nonResourceURLs: ['/metrics'], verbs: ['get'] },
  ]);
});

function use(verb: string, resource: string, namespace?: string): ResourceAccess {
  return { group: '', resource, verbs: [verb], ...(namespace !== undefined && { namespace }) };
}

test.each<[string, readonly ResourceAccess[], readonly ResourceAccess[]]>([
  [
    'in one namespace stays there',
    [use('get', 'pods', 'a'), use('patch', 'pods', 'a'), use('get', 'pods', 'a')],
    [{ group: '', resource: 'pods', verbs: ['get', 'patch'], namespace: 'a' }],
  ],
  [
    'in several namespaces holds everywhere',
    [use('get', 'pods', 'a'), use('patch', 'pods', 'b'), use('get', 'pods', 'a')],
    [{ group: '', resource: 'pods', verbs: ['get', 'patch'] }],
  ],
  [
    'outside of namespaces holds everywhere, and other resources stay apart',
    [use('list', 'pods'), use('get', 'pods', 'a'), use('get', 'secrets', 'a')],
    [
      { group: '', resource: 'pods', verbs: ['list', 'get'] },
      { group: '', resource: 'secrets', verbs: ['get'], namespace: 'a' },
    ],
  ],
])('what was seen %s', (_, uses, all) => {
  const seen = new SeenAccess();
  for (const access of uses) seen.note(access);
  expect(seen.all).toEqual(all);
});
