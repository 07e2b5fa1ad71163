import type { Readable } from 'node:stream';
import type { Clock } from '@addon-operator/base/clock';
import type { ErrorCode } from '@addon-operator/base/errors';
import { harmless } from './harmless.ts';

/** The process as the command line sees it. */
export interface CliHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The command that starts this program; default `addon-operator`. */
  readonly command?: string;
  readonly clock: Clock;
  /** Read only by commands that serve a client. */
  readonly stdin?: Readable;
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  /** The operator of the command, when it runs in a cluster. Its debug socket is available as that of a local one. */
  readonly remote?: RemoteOperator;
  /** Aborts at the first SIGINT or SIGTERM; listens to them from the first call on. */
  readonly stopSignal: () => AbortSignal;
}

/** What commands know about an operator that runs elsewhere. */
export interface RemoteOperator {
  /** Why the last connection failed; undefined while none has. */
  readonly problem: unknown;
  /** Runs `addon-operator ARGS` in the pod, and returns what it prints. */
  run(args: readonly string[]): Promise<string>;
  /** Makes a port of the pod available on the loopback address, and returns the local port. */
  forward(port: number): Promise<number>;
}

export interface TextOutput {
  write(text: string): unknown;
  /** Whether the output is a terminal, and its size if it is. */
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Calls back when the size of the terminal has changed. */
  on?(event: 'resize', listener: () => void): unknown;
  off?(event: 'resize', listener: () => void): unknown;
}

/** Ends a command with what went wrong, without control characters; returns the exit code of failures. */
export function fail(host: CliHost, message: string, code?: ErrorCode): number {
  return failWith(host, message, code);
}

/**
 * The same for an error that an operator reported, whose version may have other codes.
 *
 * @param code on a line of its own, which leads to the page of error codes
 */
export function failWith(host: CliHost, message: string, code: string | undefined): number {
  host.stderr.write(`error: ${harmless(message.trimEnd())}\n`);
  if (code !== undefined) printCode(host, code);
  return 1;
}

/** Prints the last line of an error message, which leads to the page of error codes. */
export function printCode(host: CliHost, code: string): void {
  host.stderr.write(`Code: ${code}, explained in docs/errors.md\n`);
}
