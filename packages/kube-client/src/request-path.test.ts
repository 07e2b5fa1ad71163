import { expect, test } from 'vitest';
import { pathTemplate } from './request-path.ts';

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
