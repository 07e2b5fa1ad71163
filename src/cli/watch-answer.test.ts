import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../test/support/daemon-view-stub.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { startDebugServer } from '../server/debug-server.ts';
import { watchAnswer } from './watch-answer.ts';

const PATIENCE = { timeout: 20_000 };
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watch-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

test('the answer is shown at each interval until the stop, also when the daemon goes away', async () => {
  const socketPath = join(directory, 's');
  const parameters = { list: () => [], set: () => undefined };
  const server = await startDebugServer(
    socketPath,
    { view: daemonView(), parameters, ...NO_COMMANDS },
    silentLogger,
    async () => undefined,
  );
  const clock = new FakeClock();
  const stop = new AbortController();
  const written: string[] = [];
  const output = { write: (text: string) => void written.push(text) };
  const host = { env: {}, cwd: '/', clock, stdout: output, stderr: output, stopSignal: () => stop.signal };
  const watching = watchAnswer(socketPath, '/queue/main.text', '5s', host);
  await vi.waitFor(() => expect(clock.pendingDelaysMs).toEqual([5_000]), PATIENCE);
  await server.stop();
  await clock.advance(5_000);
  await vi.waitFor(() => expect(written).toHaveLength(3), PATIENCE);
  stop.abort();
  expect(await watching).toBe(0);
  expect(written).toEqual([
    '\u001b[?1049h',
    expect.stringContaining("Queue 'main': length 0"),
    expect.stringContaining('debug socket'),
    '\u001b[?1049l',
  ]);
});

test('a wrong interval means a second', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const output = { write: () => undefined };
  const host = { env: {}, cwd: '/', clock, stdout: output, stderr: output, stopSignal: () => stop.signal };
  const watching = watchAnswer(join(directory, 'none'), '/', 'soon', host);
  await vi.waitFor(() => expect(clock.pendingDelaysMs).toEqual([1_000]), PATIENCE);
  stop.abort();
  await watching;
});
