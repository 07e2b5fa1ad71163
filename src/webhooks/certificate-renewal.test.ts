import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { expiryOf, renewedCertificates, type StoredCertificates } from './certificate-renewal.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const START_MS = Date.parse('2026-11-21T12:00:00Z');
const HOSTS = ['svc.ns.svc', '127.0.0.1'];

const first = renewedCertificates(undefined, HOSTS, START_MS);
const after = (days: number, from: StoredCertificates = first): StoredCertificates =>
  renewedCertificates(from, HOSTS, START_MS + days * DAY_MS);

test('without anything an authority for ten years and a certificate for one year are made', () => {
  expect(first.authorities).toHaveLength(1);
  expect(expiryOf(first.authorities[0] ?? '')).toBe(START_MS + 3_650 * DAY_MS);
  expect(expiryOf(first.cert)).toBe(START_MS + 365 * DAY_MS);
  expect(new X509Certificate(first.cert).subjectAltName).toBe('DNS:svc.ns.svc, IP Address:127.0.0.1');
});

test('nothing is replaced before a third of the life is left', () => {
  expect(after(1)).toBe(first);
  expect(after(244)).toBe(first);
});

test('then the certificate is, by the same authority', () => {
  const next = after(246);
  expect(next.authorities).toEqual(first.authorities);
  expect(next.cert).not.toBe(first.cert);
  expect(expiryOf(next.cert)).toBe(START_MS + (246 + 365) * DAY_MS);
});

test('a new authority comes two years before the old one ends, trusted beside it and alone at first', () => {
  const before = after(2_900);
  const both = after(2_921, before);
  expect(both.authorities).toEqual([both.authorities[0], first.authorities[0]]);
  expect(both.cert).toBe(before.cert);
  const next = after(2_921 + 300, both);
  expect(next.authorities).toEqual(both.authorities);
  const signer = new X509Certificate(both.authorities[0] ?? '');
  expect(new X509Certificate(next.cert).verify(signer.publicKey)).toBe(true);
  expect(after(3_651, next).authorities).toEqual(both.authorities);
});

test('other hosts need another certificate at once', () => {
  const next = renewedCertificates(first, ['svc.other.svc'], START_MS);
  expect(next.authorities).toEqual(first.authorities);
  expect(new X509Certificate(next.cert).subjectAltName).toBe('DNS:svc.other.svc');
});

test.each([
  ['an expired authority', first, 3_651],
  ['no authority', { ...first, authorities: [] }, 0],
  ['rubbish for an authority', { ...first, authorities: ['rubbish'] }, 0],
  ['the key of something else', { ...first, authorityKey: first.key }, 0],
])('%s is replaced by everything new', (_what, stored, days) => {
  const next = renewedCertificates(stored, HOSTS, START_MS + days * DAY_MS);
  expect(next.authorities).toHaveLength(1);
  expect(next.authorities[0]).not.toBe(first.authorities[0]);
});

test.each([
  ['rubbish for a certificate', { ...first, cert: 'rubbish' }],
  ['a key that does not fit', { ...first, key: first.authorityKey }],
  [
    'a certificate of another authority',
    {
      ...first,
      ...renewedCertificates(undefined, HOSTS, START_MS),
      authorities: first.authorities,
      authorityKey: first.authorityKey,
    },
  ],
])('%s is replaced, the authority stays', (_what, stored) => {
  const next = renewedCertificates(stored, HOSTS, START_MS);
  expect(next.authorities).toEqual(first.authorities);
  expect(next.cert).not.toBe(stored.cert);
});
