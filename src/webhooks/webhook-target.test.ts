import { expect, test } from 'vitest';
import { clientConfigOf, hostsOf, leadsTo, type WebhookTarget } from './webhook-target.ts';

const service: WebhookTarget = { type: 'service', namespace: 'ns', name: 'svc' };
const url: WebhookTarget = { type: 'url', url: 'https://127.0.0.1:8443' };

test('a service is named with the path and no port', () => {
  expect(clientConfigOf(service, '/hooks/a', 'PEM')).toEqual({
    service: { namespace: 'ns', name: 'svc', path: '/hooks/a' },
    caBundle: 'UEVN',
  });
});

test('outside of the cluster the URL holds the path', () => {
  expect(clientConfigOf(url, '/hooks/a', 'PEM')).toEqual({
    url: 'https://127.0.0.1:8443/hooks/a',
    caBundle: 'UEVN',
  });
});

test('a client configuration leads to us when service or origin are ours', () => {
  expect(leadsTo(service, clientConfigOf(service, '/x', ''))).toBe(true);
  expect(leadsTo(service, { service: { namespace: 'ns', name: 'other' } })).toBe(false);
  expect(leadsTo(service, { url: 'https://127.0.0.1:8443/x' })).toBe(false);
  expect(leadsTo(url, clientConfigOf(url, '/x', ''))).toBe(true);
  expect(leadsTo(url, { url: 'https://127.0.0.1:84/x' })).toBe(false);
  expect(leadsTo(url, undefined)).toBe(false);
});

test('certificates hold every form of the name', () => {
  expect(hostsOf(service)).toEqual(['svc.ns.svc', 'svc.ns', 'svc.ns.svc.cluster.local', 'svc']);
  expect(hostsOf(url)).toEqual(['127.0.0.1']);
  expect(hostsOf({ type: 'url', url: 'https://[::1]:1' })).toEqual(['::1']);
});
