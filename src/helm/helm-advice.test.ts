import { expect, test } from 'vitest';
import { withAdvice } from './helm-advice.ts';

test.each([
  ['data: Too long: may not be more than 1048576 bytes', '.helmignore'],
  ['unable to create new content in namespace a because it is being terminated', 'finalizer'],
  ['services is forbidden: User "op" cannot create resource "services"', 'addon-operator rbac'],
  ['cat: write error: No space left on device', '--tmp-dir'],
])('withAdvice() says what to do about: %s', (error, advice) => {
  const text = withAdvice(error);
  expect(text.startsWith(`${error}\n`)).toBe(true);
  expect(text).toContain(advice);
});

test('withAdvice() leaves other errors as they are', () => {
  expect(withAdvice('parse error at (web/templates/a.yaml:3)')).toBe(
    'parse error at (web/templates/a.yaml:3)',
  );
});
