import { stdoutLogOutput } from '../lib/pino-logger.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { CliHost } from './cli-host.ts';
import { daemonHost, daemonLog } from './daemon-host.ts';

/**
 * Runs the daemon to its end and returns the exit code.
 *
 * @param flags values given on the command line, by flag name
 * @throws OperatorError CONFIG_INVALID before anything is started, with every wrong setting
 */
export async function startCommand(flags: Readonly<Record<string, string>>, host: CliHost): Promise<number> {
  const settings = readSettings({ env: host.env, flags });
  const log = daemonLog(settings, host, stdoutLogOutput());
  const { runDaemon } = await import('../daemon.ts');
  return await runDaemon(settings, daemonHost(host, log), host.stopSignal());
}
