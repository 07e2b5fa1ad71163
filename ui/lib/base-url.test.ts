import { expect, test } from 'vitest';
import { PageBase } from './base-url.ts';
import { pathTo } from './places.ts';

test.each([
  ['http://127.0.0.1:9652/ui/', '/ui/', 'http://127.0.0.1:9652/api/v1/'],
  ['https://h.example/a/b/ui/', '/a/b/ui/', 'https://h.example/a/b/api/v1/'],
  [
    'http://127.0.0.1:8001/api/v1/namespaces/n/services/s:ui/proxy/ui/',
    '/api/v1/namespaces/n/services/s:ui/proxy/ui/',
    'http://127.0.0.1:8001/api/v1/namespaces/n/services/s:ui/proxy/api/v1/',
  ],
])('addresses below %s stay below its prefix', (baseUri, path, api) => {
  const base = new PageBase(baseUri);
  expect(base.path).toBe(path);
  expect(base.hrefOf('modules/web')).toBe(`${path}modules/web`);
  expect(base.apiUrl('runs?limit=1')).toBe(`${api}runs?limit=1`);
  expect(base.apiUrl(pathTo(['modules', '../../x']))).toBe(`${api}modules/..%2F..%2Fx`);
  expect(base.below(`${path}modules/web?q=1`)).toBe('modules/web?q=1');
  expect(base.below('/elsewhere')).toBeUndefined();
  expect(base.below('https://other.example/')).toBeUndefined();
});
