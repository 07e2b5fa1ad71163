import type { LogLevel, RootLogger } from '../lib/pino-logger.ts';
import type { DaemonView } from '../server/daemon-view.ts';
import { startDebugServer, startDebugTcpServer } from '../server/debug-server.ts';
import { type RuntimeParameter, RuntimeParameters } from '../settings/runtime-parameters.ts';
import type { Settings } from '../settings.ts';
import type { DaemonHost } from './host.ts';

const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
const DEBUG_LEVEL_MS = 30 * 60_000;

/** Opens the debug socket, and the debug endpoint on TCP where it is asked for. */
export async function startDebug(
  settings: Settings,
  { clock, log }: DaemonHost,
  view: DaemonView,
  running: AsyncDisposableStack,
): Promise<void> {
  const parameters = new RuntimeParameters([logLevelParameter(log)], clock);
  const socket = await startDebugServer(settings.debugUnixSocket, { view, parameters }, log);
  running.defer(() => socket.stop());
  if (settings.debugHttpAddress === '') return;
  const server = await startDebugTcpServer(settings.debugHttpAddress, { view, parameters }, log);
  running.defer(() => server.stop());
  log.info({ address: settings.debugHttpAddress }, 'debug endpoint listens on TCP, read only');
}

function logLevelParameter(log: RootLogger): RuntimeParameter {
  return {
    name: 'log.level',
    description: `Least level that is logged: ${LOG_LEVELS.join(', ')}`,
    default: log.level,
    validate: (value) => {
      if (!isLogLevel(value)) throw new Error(`use one of ${LOG_LEVELS.join(', ')}`);
    },
    apply: (value) => {
      if (isLogLevel(value)) log.setLevel(value);
    },
    // Debug records are many: without a limit, somebody forgets them.
    holdsMs: (value) => (value === 'debug' ? DEBUG_LEVEL_MS : undefined),
  };
}

function isLogLevel(value: string): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}
