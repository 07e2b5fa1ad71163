import { expect, test } from 'vitest';
import { withAdvice } from './helm-advice.ts';

test.each([
  ['data: Too long: may not be more than 1048576 bytes', '.helmignore'],
  ['unable to create new content in namespace a because it is being terminated', 'finalizer'],
  ['services is forbidden: User "op" cannot create resource "services"', 'addon-operator rbac'],
  ['create: failed to create: Forbidden (post services)', 'addon-operator rbac'],
  ['<html><h1>403 Forbidden</h1></html> (patch services web)', 'addon-operator rbac'],
  ['forbidden: User "op" cannot get path "/version"', 'addon-operator rbac'],
  ['resource mapping not found: no matches for kind "Foo" in version "example.com/v1"', '`crds/`'],
  ['run helm install: helm did not end within 1h5m0s', '--helm-timeout'],
  ['cat: write error: No space left on device', '--tmp-dir'],
])('withAdvice() says what to do about: %s', (error, advice) => {
  const text = withAdvice(error);
  expect(text.startsWith(`${error}\n`)).toBe(true);
  expect(text).toContain(advice);
});

test('withAdvice() names the largest files of a chart whose record is too large', () => {
  const largest = [
    { path: 'dash/a.json', bytes: 2 * 1024 * 1024 },
    { path: 'charts/lib.tgz', bytes: 1000 },
  ];
  expect(withAdvice('Too long: may not be more than 1048576 bytes', () => largest)).toContain(
    'The largest files are dash/a.json (2048 KiB), charts/lib.tgz (1 KiB).',
  );
});

test('withAdvice() says nothing of roles where a quota or a policy refused', () => {
  const error =
    'pods "a" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1';
  expect(withAdvice(error)).toBe(error);
});

test('withAdvice() leaves other errors as they are', () => {
  expect(withAdvice('parse error at (web/templates/a.yaml:3)')).toBe(
    'parse error at (web/templates/a.yaml:3)',
  );
});
