import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { expect, onTestFinished, test } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../test/support/daemon-view-stub.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { startDebugServer } from '../server/debug-server.ts';
import type { RunningHookFacts } from '../status/operator-status.ts';
import { runCli } from './run-cli.ts';

async function completed(...words: readonly string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'names-'));
  const path = join(directory, 's');
  const hooks = ['web/hooks/hang.sh', 'a b'].map((hook) => ({ hook }));
  const endpoint = {
    view: daemonView({ runningHooks: () => hooks as unknown as readonly RunningHookFacts[] }),
    parameters: { list: () => [], set: () => undefined },
    ...NO_COMMANDS,
  };
  const server = await startDebugServer(path, endpoint, silentLogger, async () => 0);
  onTestFinished(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });
  let stdout = '';
  await runCli(['__complete', '--', ...words], {
    env: { ADDON_OPERATOR_DEBUG_SOCKET: path },
    cwd: directory,
    clock: new FakeClock(),
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: () => true },
    stopSignal: () => new AbortController().signal,
  });
  return stdout;
}

test('hook abort completes hooks that run; a name that a shell would split is left out', async () => {
  expect(await completed('hook', 'abort', '')).toBe('web/hooks/hang.sh\n');
});
