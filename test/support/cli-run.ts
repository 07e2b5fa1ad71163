import { runCli } from '../../src/cli/run-cli.ts';
import { FakeClock } from './fake-clock.ts';

export interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line whose words are separated by spaces, and returns what it prints. */
export async function cliRun(
  args: string,
  host: {
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
    readonly isTTY?: boolean;
  } = {},
): Promise<CliRun> {
  let stdout = '';
  let stderr = '';
  const { env = {}, cwd = '/', isTTY = false } = host;
  const exitCode = await runCli(
    args.split(' ').filter((arg) => arg !== ''),
    {
      env,
      cwd,
      clock: new FakeClock(),
      stdout: { write: (text: string) => (stdout += text), isTTY },
      stderr: { write: (text: string) => (stderr += text) },
      stopSignal: () => new AbortController().signal,
    },
  );
  return { exitCode, stdout, stderr };
}
