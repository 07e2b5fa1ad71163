import type { Clock } from '../lib/clock.ts';

/** What the process gives the command line. */
export interface CliHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  /** Aborts at the first SIGINT or SIGTERM; listens to them from the first call on. */
  readonly stopSignal: () => AbortSignal;
}

export interface TextOutput {
  write(text: string): unknown;
  /** Whether somebody looks at a terminal; then also its size. */
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Ends a command with what went wrong; returns the exit code of failures. */
export function fail(host: CliHost, message: string): number {
  host.stderr.write(`Error: ${message}\n`);
  return 1;
}
