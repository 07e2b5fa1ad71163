import { expect, test } from 'vitest';
import { DEV_DEFAULTS, devFlags } from './dev-flags.ts';

const CONTEXT = { 'kube-context': 'test' };
const flagsOf = (flags: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) =>
  devFlags({ flags, env }, '/tmp/dev', '/home/ann/.kube/config');

test('devFlags() has the defaults, the kubeconfig of the user, and files in the directory', () => {
  expect(flagsOf(CONTEXT)).toEqual({
    ...DEV_DEFAULTS,
    ...CONTEXT,
    'kube-config': '/home/ann/.kube/config',
    'tmp-dir': '/tmp/dev/tmp',
    'debug-unix-socket': '/tmp/dev/debug.socket',
    'module-objects': 'false',
    ui: 'off',
  });
});

test.each<{ what: string; flags: object; env: object; expected: object }>([
  { what: 'a flag', flags: { 'watch-files': 'false' }, env: {}, expected: { 'watch-files': 'false' } },
  {
    what: 'what the operator in the cluster does',
    flags: { 'module-objects': 'true', ui: 'loopback' },
    env: {},
    expected: { 'module-objects': 'false', ui: 'off' },
  },
])('devFlags() with $what', ({ flags, env, expected }) => {
  expect(flagsOf({ ...CONTEXT, ...flags }, { ...env })).toMatchObject(expected);
});

test('devFlags() leaves what a variable says to the variable', () => {
  expect(flagsOf(CONTEXT, { ADDON_OPERATOR_NAMESPACE: 'mine' })).not.toHaveProperty('namespace');
});

test('devFlags() refuses to take the current context', () => {
  expect(() => flagsOf({})).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('name the cluster with --kube-context'),
    }),
  );
});
