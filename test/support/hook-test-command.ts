import { dirname } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { runCli } from '../../src/cli/run-cli.ts';

export interface HookTestOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stop?: AbortSignal;
  /** Gets what the command writes, while it runs. */
  readonly said?: { stdout: string; stderr: string };
}

/**
 * Runs `addon-operator hook test` in a directory, with temporary files there.
 *
 * @param line arguments, separated by spaces
 */
export async function runHookTest(
  directory: string,
  line: string,
  { env = {}, stop = new AbortController().signal, said = { stdout: '', stderr: '' } }: HookTestOptions = {},
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const exitCode = await runCli(['hook', 'test', ...line.split(' ')], {
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: directory,
      TMPDIR: directory,
      ...env,
    },
    cwd: directory,
    clock: systemClock,
    stdout: { write: (text: string) => (said.stdout += text) },
    stderr: { write: (text: string) => (said.stderr += text) },
    stopSignal: () => stop,
  });
  return { exitCode, ...said };
}
