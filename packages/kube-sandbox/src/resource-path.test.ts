import { expect, test } from 'vitest';
import { decodeSegments, parseResourcePath } from './resource-path.ts';

test.each([
  ['/api/v1/nodes', { group: '', version: 'v1', plural: 'nodes' }],
  ['/api/v1/nodes/a', { group: '', version: 'v1', plural: 'nodes', name: 'a' }],
  ['/api/v1/namespaces', { group: '', version: 'v1', plural: 'namespaces' }],
  ['/api/v1/namespaces/a', { group: '', version: 'v1', plural: 'namespaces', name: 'a' }],
  [
    '/api/v1/namespaces/a/status',
    { group: '', version: 'v1', plural: 'namespaces', name: 'a', subresource: 'status' },
  ],
  [
    '/api/v1/namespaces/a/finalize',
    { group: '', version: 'v1', plural: 'namespaces', name: 'a', subresource: 'finalize' },
  ],
  ['/api/v1/namespaces/a/pods', { group: '', version: 'v1', namespace: 'a', plural: 'pods' }],
  [
    '/api/v1/namespaces/a/pods/b/log',
    { group: '', version: 'v1', namespace: 'a', plural: 'pods', name: 'b', subresource: 'log' },
  ],
  [
    '/apis/apps/v1/namespaces/a/deployments/b/scale',
    { group: 'apps', version: 'v1', namespace: 'a', plural: 'deployments', name: 'b', subresource: 'scale' },
  ],
  ['/apis/apps/v1/deployments', { group: 'apps', version: 'v1', plural: 'deployments' }],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa',
    { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', name: 'system:a' },
  ],
])('%s is a resource', (path, expected) => {
  expect(parseResourcePath(path)).toEqual(expected);
});

test.each(['/api/v1', '/apis/apps/v1', '/apis', '/metrics', '/api/v1/pods/%zz', '/apis/apps/v1/a/b/c/d'])(
  '%s is none',
  (path) => {
    expect(parseResourcePath(path)).toBeUndefined();
  },
);

test('segments are decoded, empty ones dropped', () => {
  expect(decodeSegments('//api/v1/a%2Fb/')).toEqual(['api', 'v1', 'a/b']);
});
