import { expect, test } from 'vitest';
import { refusal } from './api-refusal.ts';

function refused(status: number, message: string, reason = 'Forbidden'): string {
  const body = message === '' ? '' : JSON.stringify({ kind: 'Status', reason, message });
  return refusal('GET /api/v1/pods', { status, body, retryAfter: undefined }).message;
}

test.each([
  'pods is forbidden: User "system:serviceaccount:a:op" cannot list resource "pods" in API group "" at the cluster scope',
  '',
])('refusal() names what prints the missing rules: %j', (message) => {
  expect(refused(403, message, message === '' ? '' : 'Forbidden')).toContain('`addon-operator rbac`');
});

test.each([
  [403, 'pods "a" is forbidden: exceeded quota: small'],
  [403, 'admission webhook "x" denied the request: no'],
  [404, 'pods "a" not found'],
])('refusal() says nothing of rules for %i %s', (status, message) => {
  expect(refused(status, message)).not.toContain('rbac');
});

test.each([
  [503, '<html>maintenance</html>', '3600', ' (Retry-After: 3600 s, at most 30 s of it are kept)'],
  [503, '', '30', ''],
  [429, '{"kind":"Status","reason":"TooManyRequests"}', '60', ''],
  [
    429,
    '{"kind":"Status","reason":"TooManyRequests"}',
    '61',
    ' (Retry-After: 61 s, at most 60 s of it are kept)',
  ],
  [503, '', '99999999999', ' (Retry-After: 99999999999 s, at most 30 s of it are kept)'],
  [503, '', 'Wed, 21 Oct 2026 07:28:00 GMT', ''],
])('refusal() with %i %j names a longer pause than is kept: %j', (status, body, retryAfter, expected) => {
  const { message } = refusal('GET /x', { status, body, retryAfter });
  expect(message.includes('Retry-After') ? message.slice(message.indexOf(' (Retry-After')) : '').toBe(
    expected,
  );
});

test('refusal() shows a part of a long response', () => {
  expect(refused(502, 'x'.repeat(100_000)).length).toBeLessThan(2_000);
});

test('refusal() keeps the causes that the API server names', () => {
  const cause = { reason: 'FieldManagerConflict', field: '.spec', message: 'conflict with "x"' };
  const body = JSON.stringify({ kind: 'Status', reason: 'Conflict', details: { causes: [cause, 7] } });
  expect(refusal('PATCH /x', { status: 409, body, retryAfter: undefined }).causes).toEqual([cause]);
});
