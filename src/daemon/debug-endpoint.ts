import type { Redactor } from '../lib/redactor.ts';
import { ALL_MODULES, type Pauses } from '../operator/pauses.ts';
import type { DaemonView } from '../server/daemon-view.ts';
import { startDebugServer, startDebugTcpServer } from '../server/debug-server.ts';
import type { PauseCommands, ReleaseFinalizer } from '../server/module-answers.ts';
import type { AskOperation } from '../server/operation-answer.ts';
import type { ConfigMapEventLog } from '../settings/config-map-events-parameter.ts';
import { logLevelParameter } from '../settings/log-level-parameter.ts';
import { RuntimeParameters } from '../settings/runtime-parameters.ts';
import type { Settings } from '../settings.ts';
import type { DaemonHost } from './host.ts';

export interface DebugParts {
  readonly view: DaemonView;
  readonly redactor: Redactor;
  readonly pauses: Pauses;
  readonly releaseFinalizer: ReleaseFinalizer;
  readonly askOperation: AskOperation;
  readonly configMapEvents: ConfigMapEventLog;
}

/** Opens the debug socket, and the debug endpoint on TCP where it is asked for. */
export async function startDebug(
  settings: Settings,
  { clock, log }: DaemonHost,
  { view, redactor, pauses, releaseFinalizer, askOperation, configMapEvents }: DebugParts,
  running: AsyncDisposableStack,
): Promise<void> {
  const parameters = new RuntimeParameters([logLevelParameter(log), configMapEvents.parameter], clock);
  const stop = new AbortController();
  const expiry = parameters.run(stop.signal);
  running.defer(async () => {
    stop.abort();
    await expiry;
  });
  const commands: PauseCommands = {
    pause: (module = ALL_MODULES, pause, signal) => pauses.pause(module, pause, signal),
    resume: (module = ALL_MODULES, signal) => pauses.resume(module, signal),
    nowMs: () => clock.now(),
  };
  const endpoint = { view, parameters, pauses: commands, releaseFinalizer, askOperation, redactor };
  const socket = await startDebugServer(settings.debugUnixSocket, endpoint, log);
  running.defer(() => socket.stop());
  if (settings.debugHttpAddress === '') return;
  const server = await startDebugTcpServer(settings.debugHttpAddress, endpoint, log);
  running.defer(() => server.stop());
  log.info({ address: settings.debugHttpAddress }, 'debug endpoint listens on TCP, read only');
}
