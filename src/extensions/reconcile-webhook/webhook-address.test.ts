import { expect, test } from 'vitest';
import type { UriParts } from '../../modules/reconcile-webhook.ts';
import { addressableUrl, serviceUrl } from './call-webhook.ts';

const NOTHING: UriParts = { scheme: undefined, port: undefined, path: undefined };
const SERVICE = { namespace: 'infra', name: 'web' };

test.each<[string, readonly unknown[] | undefined, Partial<UriParts>, string]>([
  ['its only port', [{ port: 8080 }], {}, 'http://web.infra.svc:8080/'],
  [
    'no port of another protocol',
    [
      { protocol: 'UDP', port: 53 },
      { protocol: 'TCP', port: 8080 },
    ],
    {},
    'http://web.infra.svc:8080/',
  ],
  ['the port of the uri', [{ port: 8080 }], { port: 9090 }, 'http://web.infra.svc:9090/'],
  [
    'the port that is named like the scheme',
    [
      { name: 'metrics', port: 80 },
      { name: 'http', port: 8080 },
    ],
    {},
    'http://web.infra.svc:8080/',
  ],
  [
    'the default port of the scheme',
    [
      { name: 'a', port: 8080 },
      { name: 'b', port: 443 },
    ],
    { scheme: 'https' },
    'https://web.infra.svc/',
  ],
  [
    'the default port where it has none',
    undefined,
    { scheme: 'https', path: '/v1?a=b' },
    'https://web.infra.svc/v1?a=b',
  ],
])('serviceUrl() takes %s', (_name, ports, uri, expected) => {
  expect(serviceUrl(SERVICE, { ports }, { ...NOTHING, ...uri }).href).toBe(expected);
});

test('serviceUrl() picks no port by chance', () => {
  const spec = { ports: [{ name: 'a', port: 1 }, { port: 2 }] };
  expect(() => serviceUrl(SERVICE, spec, NOTHING)).toThrow('several ports (a 1, 2)');
});

test.each<[Partial<UriParts>, string]>([
  [{}, 'http://host:8080/base?x=1'],
  [{ path: '/v1' }, 'http://host:8080/v1'],
  [{ port: 9090 }, 'http://host:9090/base?x=1'],
  [{ scheme: 'http' }, 'http://host:8080/base?x=1'],
  [{ scheme: 'https' }, 'https://host/base?x=1'],
  [{ scheme: 'https', port: 8443, path: '/v1' }, 'https://host:8443/v1'],
])('addressableUrl() combines the address with %j', (uri, expected) => {
  const status = { address: { url: 'http://host:8080/base?x=1' } };
  expect(addressableUrl(status, { ...NOTHING, ...uri }).href).toBe(expected);
});

test('addressableUrl() keeps addresses of IPv6, and no user', () => {
  const status = { address: { url: 'https://me:secret@[2001:db8::1]:8443/base' } };
  expect(addressableUrl(status, { ...NOTHING, port: 9443 }).href).toBe('https://[2001:db8::1]:9443/base');
});

test.each<[unknown, string]>([
  [undefined, 'it has no status.address.url'],
  [{ address: 'http://host' }, 'it has no status.address.url'],
  [{ address: { url: '' } }, 'it has no status.address.url'],
  [{ address: { url: 'file:///etc/passwd' } }, 'does not begin with http:// or https://'],
])('addressableUrl() refuses the status %j', (status, message) => {
  expect(() => addressableUrl(status, NOTHING)).toThrow(message);
});
