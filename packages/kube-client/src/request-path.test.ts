import { expect, test } from 'vitest';
import { accessOfRequest, pathTemplate } from './request-path.ts';

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

test.each([
  ['/version', '/version'],
  ['/api', '/api'],
  ['/apis/apps/v1', '/apis/apps/v1'],
  ['/api/v1/nodes', '/api/v1/nodes'],
  ['/api/v1/nodes/n1', '/api/v1/nodes/{name}'],
  ['/api/v1/namespaces', '/api/v1/namespaces'],
  ['/api/v1/namespaces/web', '/api/v1/namespaces/{name}'],
  ['/api/v1/namespaces/web/finalize', '/api/v1/namespaces/{name}/finalize'],
  ['/api/v1/namespaces/web/pods', '/api/v1/namespaces/{namespace}/pods'],
  ['/api/v1/namespaces/web/pods/p/log', '/api/v1/namespaces/{namespace}/pods/{name}/log'],
  ['/apis/apps/v1/namespaces/web/deployments/d', '/apis/apps/v1/namespaces/{namespace}/deployments/{name}'],
  [
    '/api/v1/namespaces/web/services/s/proxy/secret/path',
    '/api/v1/namespaces/{namespace}/services/{name}/proxy',
  ],
  ['/healthz/ping', '/healthz'],
])('pathTemplate() turns %s into %s', (path, template) => {
  expect(pathTemplate(path)).toBe(template);
});
