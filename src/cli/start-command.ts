import { stdoutLogOutput } from '../lib/stdout-log-output.ts';
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
  const output = stdoutLogOutput(host.clock);
  const log = daemonLog(settings, host, output);
  output.onRecovered((droppedRecords) =>
    log.warn({ droppedRecords }, 'log records were dropped because nothing read standard output'),
  );
  try {
    const { runDaemon } = await import('../daemon.ts');
    const daemon = { ...daemonHost(host, log), droppedLogRecords: () => output.dropped };
    return await runDaemon(settings, daemon, host.stopSignal());
  } finally {
    await output.close();
  }
}
