import { systemClock } from '@addon-operator/base/clock';
import { createLogger, type LogOutput, type RootLogger } from '@addon-operator/logging/json-logger';
import { returnIdleCode } from '@addon-operator/process/idle-code';
import { processMemory } from '../app/free-memory.ts';
import type { DaemonHost } from '../app/host.ts';
import { BUILT_CODE } from '../own-code.ts';
import type { LogSettings } from '../settings/log-settings.ts';
import type { CliHost } from './cli-host.ts';
import { readVersion } from './version.ts';

/** The host of a daemon, or of parts of one, that a command runs. */
export function daemonHost({ env, cwd, clock }: CliHost, log: RootLogger): DaemonHost {
  return {
    env,
    cwd,
    clock,
    steadyClock: systemClock,
    random: Math.random,
    log,
    version: readVersion(),
    process,
    memory: processMemory(returnIdleCode),
  };
}

/** The log of a daemon, as its settings want it. */
export function daemonLog(
  { logLevel, logType, logsWithoutTime }: LogSettings,
  { clock }: CliHost,
  output: LogOutput,
): RootLogger {
  return createLogger({
    level: logLevel,
    type: logType,
    hasTime: !logsWithoutTime,
    clock,
    output,
    builtCode: BUILT_CODE,
  });
}
