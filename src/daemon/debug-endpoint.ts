import { readFile } from 'node:fs/promises';
import { messageOf } from '../lib/errors.ts';
import type { Redactor } from '../lib/redactor.ts';
import { ALL_MODULES, type Pauses } from '../operator/pauses.ts';
import { peerUid } from '../process/peer-uid.ts';
import type { DaemonView } from '../server/daemon-view.ts';
import { startDebugServer, startDebugTcpServer } from '../server/debug-server.ts';
import type { PauseCommands, ReleaseFinalizer } from '../server/module-answers.ts';
import type { AskOperation } from '../server/operation-answer.ts';
import type { ReleaseCommands } from '../server/release-answers.ts';
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
  readonly releases: ReleaseCommands;
  readonly configMapEvents: ConfigMapEventLog;
}

/** Opens the debug socket, and the debug endpoint on TCP where it is asked for. */
export async function startDebug(
  settings: Settings,
  { clock, log }: DaemonHost,
  { view, redactor, pauses, releaseFinalizer, askOperation, releases, configMapEvents }: DebugParts,
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
    nowMs: () => clock.wallMs(),
  };
  const endpoint = { view, parameters, pauses: commands, releaseFinalizer, askOperation, releases, redactor };
  const socket = await startDebugServer(settings.debugUnixSocket, endpoint, log, peerUid);
  running.defer(() => socket.stop());
  if (settings.debugHttpAddress === '') return;
  const server = await startDebugTcpServer(settings.debugHttpAddress, endpoint, log, tokenReader(settings));
  running.defer(() => server.stop());
  log.info({ address: settings.debugHttpAddress }, 'debug endpoint listens on TCP, read only');
}

/** Reads the token of the debug endpoint: from its file where one is named, else the token itself is set. */
function tokenReader({
  debugHttpTokenFile: path,
  debugHttpToken,
}: Pick<Settings, 'debugHttpTokenFile' | 'debugHttpToken'>): () => Promise<string> {
  return async () => {
    if (path === '') return debugHttpToken;
    const text = await readFile(path, 'utf8').catch((cause: unknown) => {
      throw new Error(`the token file ${path} cannot be read: ${messageOf(cause)}`, { cause });
    });
    const token = text.trim();
    if (token === '') throw new Error(`the token file ${path} is empty: write a random token into it`);
    return token;
  };
}
