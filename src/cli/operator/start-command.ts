import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { errorText } from '@addon-operator/base/error-text';
import { messageOf } from '@addon-operator/base/errors';
import type { LogOutput, RootLogger } from '@addon-operator/logging/json-logger';
import { observeLog } from '@addon-operator/logging/observe-log';
import { stdoutLogOutput } from '@addon-operator/logging/stdout-log-output';
import type { DaemonHost } from '../../app/host.ts';
import type { LogSettings } from '../../settings/log-settings.ts';
import { readSettings } from '../../settings/read-settings.ts';
import type { Settings } from '../../settings.ts';
import type { CliHost } from '../cli-host.ts';
import { daemonHost, daemonLog } from '../daemon-host.ts';
import { wantsColor } from '../output/paint.ts';
import { isGiven } from '../sandbox/sandbox-flags.ts';

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

/** The host of a daemon that logs to standard output. */
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

/** Where the kubelet reads why a container ended; there is such a file only in pods. */
const TERMINATION_LOG = '/dev/termination-log';
/** The kubelet cuts what is longer. */
const MAX_BYTES = 4096;

/** A logger that also puts fatal records into the termination message of the container. */
export function withTerminationMessage(log: RootLogger, file?: string): RootLogger {
  return observeLog(log, ({ level, message, fields }) => {
    if (level !== 'fatal') return;
    const { error } = fields;
    const reason = typeof error === 'string' ? error : error instanceof Error ? errorText(error) : '';
    writeTerminationMessage(reason === '' ? message : `${message}: ${reason}`, file);
  });
}

/**
 * Makes a text the termination message of the container, which `kubectl describe pod` shows. Does nothing where there is no
 * such file or it cannot be written: the log has the text too.
 *
 * @param file default `/dev/termination-log`
 */
export function writeTerminationMessage(text: string, file: string = TERMINATION_LOG): void {
  try {
    const descriptor = openSync(file, constants.O_WRONLY | constants.O_TRUNC);
    try {
      writeSync(descriptor, Buffer.from(text).subarray(0, MAX_BYTES));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Not in a pod.
  }
}
