import { constants } from 'node:os';
import { basename, delimiter, dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '@addon-operator/base/clock';
import { shellWord } from '@addon-operator/strings/shell-word';
import { runCli } from './run-cli.ts';

/** Runs the command that the arguments of a process name, and sets its exit code. */
export async function runProcess(process: NodeJS.Process): Promise<void> {
  // The reader of the output has gone: stop as after a signal, in order where that matters.
  process.stdout.once('error', (error) => {
    process.stdout.on('error', () => undefined);
    if (!('code' in error && error.code === 'EPIPE'))
      process.stderr.write(`error: cannot write to stdout: ${error.message}\n`);
    process.kill(process.pid, 'SIGTERM');
  });
  const { ADDON_OPERATOR_COMMAND: started, PATH: path } = process.env;
  // Not for the programs that are started from here.
  delete process.env['ADDON_OPERATOR_COMMAND'];
  process.exitCode = await runCli(process.argv.slice(2), {
    env: process.env,
    command: ownCommand(started, path),
    cwd: process.cwd(),
    clock: systemClock,
    // Not opened before it is used: an open one keeps the process alive.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    stopSignal: () => stopSignals(process),
  });
  // An error of the last write is reported after it.
  await setImmediate();
  // Else Node frees the whole heap first, which takes as long as the rest of a stop.
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
}

const NAME = 'addon-operator';

/**
 * The command that starts this program again: its name if PATH has it, else the path that it was started by.
 *
 * @param started how it was started; undefined: not by its launcher
 */
export function ownCommand(started: string | undefined, path: string | undefined): string {
  if (started === undefined || basename(started) === started) return NAME;
  const directory = dirname(started);
  // npx puts such a directory into PATH for the time of one command.
  const isInPath =
    !directory.endsWith('node_modules/.bin') && (path ?? '').split(delimiter).includes(directory);
  return isInPath && basename(started) === NAME ? NAME : shellWord(started);
}

/** The part of `process` that is needed here. */
interface SignalSource {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): void;
}

type StopSignal = 'SIGINT' | 'SIGTERM';

/**
 * A signal that aborts at the first SIGINT or SIGTERM. The second one ends the process at once, with 128 and its number.
 */
export function stopSignals(source: SignalSource): AbortSignal {
  const stop = new AbortController();
  const onSignal = (signal: StopSignal): void => {
    if (stop.signal.aborted) source.exit(128 + constants.signals[signal]);
    else stop.abort(new Error(`${signal} received`));
  };
  source.on('SIGINT', onSignal);
  source.on('SIGTERM', onSignal);
  return stop.signal;
}
