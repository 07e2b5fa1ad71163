import { silentLogger } from '@addon-operator/base/log';
import type { RunningServer } from '@addon-operator/http-server/serve';
import type { DebugEndpoint } from '../../src/server/debug-routes.ts';
import { startDebugServer } from '../../src/server/debug-server.ts';
import { daemonView, NO_COMMANDS } from './daemon-view-stub.ts';

/** A debug endpoint for tests of commands: it has no runtime parameters and refuses every command, unless `parts` have them. */
export async function startDebugEndpoint(
  socketPath: string,
  parts: Partial<DebugEndpoint> = {},
): Promise<RunningServer> {
  const parameters = { list: () => [], set: () => undefined };
  const endpoint = { view: daemonView(), parameters, ...NO_COMMANDS, ...parts };
  return await startDebugServer(socketPath, endpoint, silentLogger, async () => undefined);
}
