import { silentLogger } from '@addon-operator/base/log';
import type { ProcessOutcome } from '@addon-operator/process/process-runner';
import { expect, test } from 'vitest';
import { type HelmOutcome, helmEnvironment, helmError, runHelm } from './helm-process.ts';

const signal = new AbortController().signal;

async function run(
  outcome: ProcessOutcome,
  stderr: string,
  values?: unknown,
  ends: { readonly stderrStart?: string } = {},
): Promise<HelmOutcome> {
  const result = { outcome, stdout: 'out', isStdoutTruncated: false, stderr, ...ends, durationMs: 1 };
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
    { type: 'failed', error: 'UPGRADE FAILED: y', stdout: 'out', exitCode: 1 },
  ],
  [
    'silence',
    { type: 'exited', exitCode: 3 },
    '',
    { type: 'failed', error: 'helm exited with code 3', stdout: 'out', exitCode: 3 },
  ],
  [
    'a kill',
    { type: 'signalled', signal: 'SIGKILL' },
    '',
    { type: 'failed', error: 'helm was killed by SIGKILL, perhaps out of memory', stdout: 'out' },
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

test('runHelm() shows no part of a secret value where an error is cut', async () => {
  const stderr = `Error: ${'x'.repeat(4_094)}hunter22${'y'.repeat(9_000)}`;
  const outcome = await run({ type: 'exited', exitCode: 1 }, stderr, { web: { password: 'hunter22' } });
  expect(outcome).toMatchObject({ error: `${'x'.repeat(4_094)}**…${'y'.repeat(4_095)}` });
});

test('runHelm() hides secret values in errors', async () => {
  const outcome = await run({ type: 'exited', exitCode: 1 }, 'Error: bad "hunter22"', {
    web: { password: 'hunter22' },
  });
  expect(outcome).toEqual({ type: 'failed', error: 'bad "***"', stdout: 'out', exitCode: 1 });
});

test('an error of helm that is longer than what is kept has its template and line, and its end', async () => {
  const stderr = `…${'x'.repeat(60_000)} the reason`;
  const stderrStart = `Error: execution error at (web/templates/a.yaml:3:4): ${'x'.repeat(8_000)}`;
  const outcome = await run({ type: 'exited', exitCode: 1 }, stderr, undefined, { stderrStart });
  expect(outcome).toMatchObject({ type: 'failed', exitCode: 1 });
  const error = outcome.type === 'failed' ? outcome.error : '';
  expect(error.length).toBeLessThanOrEqual(8_192);
  expect(error).toMatch(/^execution error at \(web\/templates\/a\.yaml:3:4\): x+…x+ the reason$/);
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

test('helmEnvironment() passes on the garbage collection settings of the daemon', () => {
  const options = { kubeConfigPath: '', workDir: '', pluginsDir: '', storageDriver: 'secret' };
  const env = helmEnvironment({ ...options, base: { GOGC: '50', GOMEMLIMIT: '1GiB' } });
  expect(env).toMatchObject({ GOGC: '50', GOMEMLIMIT: '1GiB' });
});
