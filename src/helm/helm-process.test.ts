import { silentLogger } from '@addon-operator/base/log';
import type { ProcessOutcome } from '@addon-operator/process/process-runner';
import { expect, test } from 'vitest';
import { type HelmOutcome, helmEnvironment, helmError, runHelm, withAdvice } from './helm-process.ts';

const signal = new AbortController().signal;

async function run(outcome: ProcessOutcome, stderr: string, values?: unknown): Promise<HelmOutcome> {
  const result = { outcome, stdout: 'out', isStdoutTruncated: false, stderr, durationMs: 1 };
  return await runHelm(
    {
      runner: { run: async () => await Promise.resolve(result) },
      helm: { path: '/bin/helm', version: '3.19.5', major: 3, minor: 19 },
      env: {},
      workDir: '/',
      log: silentLogger,
    },
    { args: ['upgrade'], timeoutMs: 1_000, values },
    signal,
  );
}

test.each<[string, ProcessOutcome, string, object]>([
  [
    'exit 0',
    { type: 'exited', exitCode: 0 },
    'WARNING: x',
    { type: 'succeeded', stdout: 'out', isStdoutTruncated: false },
  ],
  [
    'an error',
    { type: 'exited', exitCode: 1 },
    'WARNING: x\nError: UPGRADE FAILED: y\n',
    { type: 'failed', error: 'UPGRADE FAILED: y', stdout: 'out' },
  ],
  [
    'silence',
    { type: 'exited', exitCode: 3 },
    '',
    { type: 'failed', error: 'helm exited with code 3', stdout: 'out' },
  ],
  [
    'a kill',
    { type: 'signalled', signal: 'SIGKILL' },
    '',
    { type: 'failed', error: 'helm was killed by SIGKILL', stdout: 'out' },
  ],
  [
    'a time-out',
    { type: 'timed-out', timeoutMs: 3_900_000 },
    'Error: cancelled',
    { type: 'failed', error: 'helm did not end within 1h5m0s: cancelled', stdout: 'out', isTimedOut: true },
  ],
])('runHelm() reports %s', async (_case, outcome, stderr, expected) => {
  expect(await run(outcome, stderr)).toEqual(expected);
});

test('runHelm() shows no part of a secret value at the end of an error that is cut', async () => {
  const stderr = `Error: ${'x'.repeat(8_190)}hunter22`;
  const outcome = await run({ type: 'exited', exitCode: 1 }, stderr, { web: { password: 'hunter22' } });
  expect(outcome).toMatchObject({ error: `${'x'.repeat(8_190)}**…` });
});

test('runHelm() hides secret values in errors', async () => {
  const outcome = await run({ type: 'exited', exitCode: 1 }, 'Error: bad "hunter22"', {
    web: { password: 'hunter22' },
  });
  expect(outcome).toEqual({ type: 'failed', error: 'bad "***"', stdout: 'out' });
});

test('helmError() is bounded', () => {
  expect(helmError(`Error: ${'x'.repeat(100_000)}`).length).toBeLessThan(10_000);
});

test('helmEnvironment() keeps the environment, but no helm settings of a person', () => {
  const env = helmEnvironment({
    base: {
      PATH: '/bin',
      HTTPS_PROXY: 'p',
      KUBECONFIG: '/theirs',
      HELM_NAMESPACE: 'x',
      HELM_DEBUG: '1',
      GONE: undefined,
    },
    kubeConfigPath: '/ours',
    workDir: '/state',
    pluginsDir: '/state/plugins',
    storageDriver: 'secret',
  });
  expect(env).toEqual({
    GOGC: '400',
    GOMEMLIMIT: '256MiB',
    PATH: '/bin',
    HTTPS_PROXY: 'p',
    KUBECONFIG: '/ours',
    KUBECACHEDIR: '/state/kube-cache',
    HELM_CACHE_HOME: '/state/cache',
    HELM_CONFIG_HOME: '/state/config',
    HELM_DATA_HOME: '/state/data',
    HELM_PLUGINS: '/state/plugins',
    HELM_DRIVER: 'secret',
  });
});

test('helmEnvironment() collects garbage as the daemon was told to', () => {
  const options = { kubeConfigPath: '', workDir: '', pluginsDir: '', storageDriver: 'secret' };
  const env = helmEnvironment({ ...options, base: { GOGC: '50', GOMEMLIMIT: '1GiB' } });
  expect(env).toMatchObject({ GOGC: '50', GOMEMLIMIT: '1GiB' });
});

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
