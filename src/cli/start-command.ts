import { steadyClock } from '../lib/clock.ts';
import { createLogger, stdoutLogOutput } from '../lib/pino-logger.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { CliHost } from './cli-host.ts';
import { readVersion } from './version.ts';

/**
 * Runs the daemon to its end and returns the exit code.
 *
 * @param flags values given on the command line, by flag name
 * @throws OperatorError CONFIG_INVALID before anything is started, with every wrong setting
 */
export async function startCommand(flags: Readonly<Record<string, string>>, host: CliHost): Promise<number> {
  const settings = readSettings({ env: host.env, flags });
  const log = createLogger({
    level: settings.logLevel,
    type: settings.logType,
    hasTime: !settings.logsWithoutTime,
    clock: host.clock,
    output: stdoutLogOutput(),
  });
  const { runDaemon } = await import('../daemon.ts');
  return await runDaemon(
    settings,
    {
      env: host.env,
      cwd: host.cwd,
      clock: host.clock,
      steadyClock,
      random: Math.random,
      log,
      version: readVersion(),
    },
    host.stopSignal(),
  );
}
