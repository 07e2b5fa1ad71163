import { systemClock } from '../lib/clock.ts';
import { runCli } from './run-cli.ts';
import { stopSignals } from './stop-signals.ts';

/** Runs the command that the arguments of a process name, and sets its exit code. */
export async function runProcess(process: NodeJS.Process): Promise<void> {
  // A reader that went away wants no more: end as if asked to, and in order where that matters.
  process.stdout.once('error', (error) => {
    process.stdout.on('error', () => undefined);
    if (!('code' in error && error.code === 'EPIPE'))
      process.stderr.write(`Error: cannot write to stdout: ${error.message}\n`);
    process.kill(process.pid, 'SIGTERM');
  });
  process.exitCode = await runCli(process.argv.slice(2), {
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    stdout: process.stdout,
    stderr: process.stderr,
    stopSignal: () => stopSignals(process),
  });
}
