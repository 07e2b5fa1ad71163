import { expect, test } from 'vitest';
import { accessOfRequest } from './request-access.ts';

const CASES: readonly [string, string, string, string, string, string?][] = [
  ['GET', '/api/v1/namespaces/a/pods/b', '', 'pods', 'get', 'a'],
  ['GET', '/api/v1/pods', '', 'pods', 'list'],
  ['POST', '/apis/apps/v1/namespaces/a/deployments', 'apps', 'deployments', 'create', 'a'],
  ['PUT', '/apis/apps/v1/namespaces/a/deployments/b/status', 'apps', 'deployments/status', 'update', 'a'],
  ['PATCH', '/api/v1/namespaces/a', '', 'namespaces', 'patch'],
  ['PUT', '/api/v1/namespaces/a/status', '', 'namespaces/status', 'update'],
  ['DELETE', '/apis/stable.example.com/v1/crontabs/a', 'stable.example.com', 'crontabs', 'delete'],
];

test.for(CASES)(
  '%s %s needs its verb on its resource',
  ([method, path, group, resource, verb, namespace]) => {
    const place = namespace === undefined ? {} : { namespace };
    expect(accessOfRequest(method, path)).toEqual({ group, resource, verbs: [verb], ...place });
  },
);

test('paths outside the resource API need no access to a resource', () => {
  expect(accessOfRequest('GET', '/version')).toBeUndefined();
  expect(accessOfRequest('GET', '/apis')).toBeUndefined();
});
