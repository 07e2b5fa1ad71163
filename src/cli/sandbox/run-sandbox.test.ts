import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { runCli } from '../run-cli.ts';

test.each([
  [
    '--sandbox-port 70000',
    'flag --sandbox-port: value "70000" is invalid; accepted: a whole number from 0 to 65535',
  ],
  ['--kube-config /real', 'flag --kube-config cannot be used with "sandbox"'],
  ['--helm-timeout soon', 'flag --helm-timeout (variable HELM_TIMEOUT): value "soon" is invalid'],
])('"sandbox %s" is refused before anything is made', async (args, message) => {
  const cwd = mkdtempSync(join(tmpdir(), 'sandbox-'));
  let stderr = '';
  const exitCode = await runCli(['sandbox', ...args.split(' ')], {
    env: {},
    cwd,
    clock: new FakeClock(),
    stdout: { write: () => undefined },
    stderr: { write: (text: string) => (stderr += text) },
    stopSignal: () => new AbortController().signal,
  });
  expect([exitCode, existsSync(join(cwd, '.sandbox'))]).toEqual([1, false]);
  expect(stderr).toContain(`configuration error: ${message}`);
  rmSync(cwd, { recursive: true });
});
