import { messageOf } from '@addon-operator/base/errors';
import type { LogOutput, RootLogger } from '@addon-operator/logging/json-logger';
import { stdoutLogOutput } from '@addon-operator/logging/stdout-log-output';
import type { DaemonHost } from '../../app/host.ts';
import type { LogSettings } from '../../settings/log-settings.ts';
import { readSettings } from '../../settings/read-settings.ts';
import type { Settings } from '../../settings.ts';
import type { CliHost } from '../cli-host.ts';
import { daemonHost, daemonLog } from '../daemon-host.ts';
import { wantsColor } from '../output/paint.ts';
import { isGiven } from '../sandbox/sandbox-flags.ts';
import { withTerminationMessage, writeTerminationMessage } from './termination-message.ts';

/**
 * Runs the daemon to its end and returns the exit code. On a terminal the log is for people, unless its format is chosen.
 *
 * @param flags values given on the command line, by flag name
 * @throws OperatorError CONFIG_INVALID before anything is started, with every wrong setting
 */
export async function startCommand(flags: Readonly<Record<string, string>>, host: CliHost): Promise<number> {
  const settings = settingsOf(flags, host);
  await using opened = await openDaemonLog(settings, host, flags);
  const { runDaemon } = await import('../../daemon.ts');
  const daemon = { ...opened.host, log: withTerminationMessage(opened.host.log) };
  return await runDaemon(settings, daemon, host.stopSignal());
}

/** @throws OperatorError CONFIG_INVALID, which is the termination message of the container as well */
function settingsOf(flags: Readonly<Record<string, string>>, { env }: CliHost): Settings {
  try {
    return readSettings({ env, flags });
  } catch (error) {
    writeTerminationMessage(messageOf(error));
    throw error;
  }
}

/** What the process gives a daemon that logs to standard output. */
interface LoggingHost extends AsyncDisposable {
  readonly host: DaemonHost;
}

/**
 * Opens the log of a daemon on standard output, which counts and reports records that nothing read. On a terminal it is for
 * people, unless its format is among the flags or variables.
 */
export async function openDaemonLog(
  settings: LogSettings,
  host: CliHost,
  flags: Readonly<Record<string, string>>,
): Promise<LoggingHost> {
  const output = stdoutLogOutput(host.clock);
  const log = await daemonLogOn(output, settings, host, flags);
  output.onRecovered((droppedRecords) =>
    log.warn({ droppedRecords }, 'log records were dropped because nothing read standard output'),
  );
  return {
    host: { ...daemonHost(host, log), droppedLogRecords: () => output.dropped },
    [Symbol.asyncDispose]: () => output.close(),
  };
}

async function daemonLogOn(
  output: LogOutput,
  settings: LogSettings,
  host: CliHost,
  flags: Readonly<Record<string, string>>,
): Promise<RootLogger> {
  const isForPeople = host.stdout.isTTY === true && !isGiven('log-type', { env: host.env, flags });
  if (!isForPeople) return daemonLog(settings, host, output);
  const { terminalLog } = await import('../output/terminal-log.ts');
  return daemonLog(settings, host, terminalLog(output, wantsColor(true, host.env)));
}
