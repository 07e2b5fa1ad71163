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
