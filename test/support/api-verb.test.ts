import { expect, test } from 'vitest';
import { apiVerb } from './api-verb.ts';

test.each([
  ['GET', '/api/v1/pods', 'list'],
  ['GET', '/api/v1/pods?watch=true', 'watch'],
  ['GET', '/api/v1/namespaces', 'list'],
  ['GET', '/api/v1/namespaces/default', 'get'],
  ['DELETE', '/api/v1/namespaces/default', 'delete'],
  ['GET', '/api/v1/namespaces/default/pods?limit=500', 'list'],
  ['GET', '/api/v1/namespaces/default/pods/a', 'get'],
  ['GET', '/api/v1/namespaces/default/pods/a/status', 'get'],
  ['GET', '/apis/apps/v1/deployments?watch=1', 'watch'],
  ['GET', '/apis/apps/v1/namespaces/x/deployments/y', 'get'],
  ['GET', '/apis/apps/v1', 'get'],
  ['GET', '/version', 'get'],
  ['POST', '/api/v1/namespaces/x/pods', 'create'],
  ['PUT', '/api/v1/namespaces/x/pods/a', 'update'],
  ['PATCH', '/api/v1/namespaces/x/pods/a', 'patch'],
  ['DELETE', '/api/v1/namespaces/x/pods', 'deletecollection'],
  ['DELETE', '/api/v1/namespaces/x/pods/a', 'delete'],
  ['OPTIONS', '/api', 'other'],
])('apiVerb() of %s %s is %s', (method, target, verb) => {
  const url = new URL(target, 'http://server');
  expect(apiVerb(method, url.pathname, url.searchParams)).toBe(verb);
});
