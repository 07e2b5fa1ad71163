import { setImmediate } from 'node:timers/promises';
import { systemClock } from '@addon-operator/base/clock';
import { ownCommand } from './own-command.ts';
import { runCli } from './run-cli.ts';
import { stopSignals } from './stop-signals.ts';

/** Runs the command that the arguments of a process name, and sets its exit code. */
export async function runProcess(process: NodeJS.Process): Promise<void> {
  // The reader of the output has gone: stop as after a signal, in order where that matters.
  process.stdout.once('error', (error) => {
    process.stdout.on('error', () => undefined);
    if (!('code' in error && error.code === 'EPIPE'))
      process.stderr.write(`Error: cannot write to stdout: ${error.message}\n`);
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
    stdout: process.stdout,
    stderr: process.stderr,
    stopSignal: () => stopSignals(process),
  });
  // An error of the last write is reported after it.
  await setImmediate();
  // Else Node frees the whole heap first, which takes as long as the rest of a stop.
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
}
