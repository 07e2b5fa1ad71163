import { dirname } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { projectRoot } from '../checks/checkout.ts';

test('the tests of the hooks in examples/ pass', { timeout: 180_000 }, async () => {
  let said = '';
  const output = { write: (text: string) => (said += text) };
  const exitCode = await runCli(['hook', 'test', 'examples'], {
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
    cwd: projectRoot,
    clock: systemClock,
    stdout: output,
    stderr: output,
    stopSignal: () => new AbortController().signal,
  });
  expect([exitCode, said]).toEqual([0, expect.stringMatching(/\n\d+ passed, 0 failed, 0 skipped\n$/)]);
});
