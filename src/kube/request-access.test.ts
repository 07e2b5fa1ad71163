import { expect, test } from 'vitest';
import { pathTemplate } from './path-template.ts';
import { accessOfRequest } from './request-access.ts';

const CASES: readonly [string, string, string, string, string][] = [
  ['GET', '/api/v1/namespaces/a/pods/b', '', 'pods', 'get'],
  ['GET', '/api/v1/pods', '', 'pods', 'list'],
  ['POST', '/apis/apps/v1/namespaces/a/deployments', 'apps', 'deployments', 'create'],
  ['PUT', '/apis/apps/v1/namespaces/a/deployments/b/status', 'apps', 'deployments/status', 'update'],
  ['PATCH', '/api/v1/namespaces/a', '', 'namespaces', 'patch'],
  ['DELETE', '/apis/stable.example.com/v1/crontabs/a', 'stable.example.com', 'crontabs', 'delete'],
];

test.for(CASES)('%s %s needs its verb on its resource', ([method, path, group, resource, verb]) => {
  expect(accessOfRequest(method, pathTemplate(path))).toEqual({ group, resource, verbs: [verb] });
});

test('paths outside the resource API need no access to a resource', () => {
  expect(accessOfRequest('GET', pathTemplate('/version'))).toBeUndefined();
  expect(accessOfRequest('GET', pathTemplate('/apis'))).toBeUndefined();
});
