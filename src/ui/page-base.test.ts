import { expect, test } from 'vitest';
import { pageFor } from './ui-handler.ts';

const NO_MARKS = { actions: false, standby: false, auth: 'token' } as const;

test.each([
  ['', './'],
  ['queues', './'],
  ['queues/main', '../'],
  ['modules/web/why', '../../'],
  ['queues/a%2Fb', '../'],
  ['modules/', '../'],
])('the base of %j is %s, so that addresses of the page are relative to its directory', (path, base) => {
  expect(pageFor('<html><head lang="en"><title>x</title>', path, NO_MARKS)).toBe(
    `<html><head lang="en"><base href="${base}"><title>x</title>`,
  );
  const prefix = 'https://proxy.example/any/prefix/ui/';
  expect(new URL(base, `${prefix}${path}`).href).toBe(prefix);
});

test('a base that the build wrote is replaced', () => {
  expect(pageFor('<head><base href="/">', 'a/b', NO_MARKS)).toBe('<head><base href="../">');
});

test('the page learns from its head whether it may offer actions, whether the replica is a standby, and how to sign in', () => {
  const head = '<head><base href="./">';
  expect(pageFor('<head>', '', { ...NO_MARKS, actions: true })).toBe(
    `${head}<meta name="actions" content="on">`,
  );
  expect(pageFor('<head>', '', { ...NO_MARKS, standby: true })).toBe(
    `${head}<meta name="standby" content="on">`,
  );
  expect(pageFor('<head>', '', { ...NO_MARKS, auth: 'proxy' })).toBe(
    `${head}<meta name="sign-in" content="proxy">`,
  );
});
