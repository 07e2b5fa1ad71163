import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { daemonView } from '../../test/support/daemon-view-stub.ts';
import { startDebugEndpoint } from '../../test/support/debug-endpoint.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { RunningHookFacts } from '../status/running-hook.ts';
import { runCli } from './run-cli.ts';

async function completed(...words: readonly string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'names-'));
  const path = join(directory, 's');
  const hooks = ['web/hooks/hang.sh', 'a b'].map((hook) => ({ hook }));
  const view = daemonView({
    runningHooks: () => hooks as unknown as readonly RunningHookFacts[],
    queues: () => ['main', 'web'].map((name) => ({ name, status: '', tasks: [] })),
  });
  const server = await startDebugEndpoint(path, { view });
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

test('hook trigger completes the hooks of the operator', async () => {
  expect(await completed('hook', 'trigger', '')).toBe('web/hooks/hang.sh\n');
});

test.each([
  ['queues', ['runs', '--queue', ''], 'main\nweb\n'],
  ['queues in which a hook may run', ['hook', 'abort', 'a.sh', '--queue', 'm'], 'main\n'],
  ['hooks behind =', ['runs', '--hook=w'], '--hook=web/hooks/hang.sh\n'],
])('options complete %s', async (_what, words, names) => {
  expect(await completed(...words)).toBe(names);
});
