import { runCli } from './cli/run-cli.ts';
import { stopSignals } from './cli/stop-signals.ts';
import { systemClock } from './lib/clock.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  stdout: process.stdout,
  stderr: process.stderr,
  stopSignal: () => stopSignals(process),
});
