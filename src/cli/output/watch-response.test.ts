import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../../test/support/daemon-view-stub.ts';
import { startDebugEndpoint } from '../../../test/support/debug-endpoint.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { TICK_MS } from '../../server/api/stream-hub.ts';
import type { QueueView } from '../../status/daemon-view.ts';
import { watchResponse } from './watch-response.ts';

const PATIENCE = { timeout: 20_000 };
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watch-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** A command that watches, and an operator whose queue and clock a test moves. */
async function watched(options: { readonly isTTY: boolean; readonly interval: string }) {
  const socketPath = join(directory, 's');
  const operatorClock = new FakeClock();
  const main: { tasks: QueueView['tasks'] } = { tasks: [] };
  const tasks = () => main.tasks.length;
  const view = daemonView({
    queues: () => [{ name: 'main', status: '', tasks: main.tasks }],
    taskQueues: () => [
      {
        name: 'main',
        length: tasks(),
        keys: 0,
        status: { type: 'idle', since: null, until: null },
        tasks: [],
      },
    ],
    stateKey: () => String(tasks()),
  });
  const identity = { ...NO_COMMANDS.identity, clock: operatorClock };
  const server = await startDebugEndpoint(socketPath, { view, identity });
  const clock = new FakeClock();
  const stop = new AbortController();
  const written: string[] = [];
  const output = { isTTY: options.isTTY, write: (text: string) => void written.push(text) };
  const host = { env: {}, cwd: '/', clock, stdout: output, stderr: output, stopSignal: () => stop.signal };
  const watching = watchResponse(socketPath, '/queue/main.text', options.interval, host);
  return { server, clock, operatorClock, main, stop, written, watching };
}

test('a response is shown again as soon as the operator reports a change', async () => {
  const { server, clock, operatorClock, main, stop, written, watching } = await watched({
    isTTY: false,
    interval: '1h',
  });
  await vi.waitFor(() => expect(written.join('')).toContain("Queue 'main': length 0"), PATIENCE);
  await vi.waitFor(() => expect(operatorClock.pendingDelaysMs).toEqual([TICK_MS]), PATIENCE);
  main.tasks = [{ index: 1, description: 'ModuleRun web' }];
  await operatorClock.advance(TICK_MS);
  // Changes within a quarter of a second are one look.
  await vi.waitFor(async () => {
    await clock.advance(250);
    expect(written.join('')).toContain('ModuleRun web');
  }, PATIENCE);
  stop.abort();
  expect(await watching).toBe(0);
  await server.stop();
  expect(written.join('')).not.toContain('\u001b');
  await operatorClock.advance(TICK_MS);
});

test('the response is shown at each interval until the stop, also when the daemon goes away', async () => {
  const { server, clock, operatorClock, stop, written, watching } = await watched({
    isTTY: true,
    interval: '5s',
  });
  await vi.waitFor(() => expect(written.join('')).toContain("Queue 'main': length 0"), PATIENCE);
  await vi.waitFor(async () => {
    await clock.advance(5_000);
    expect(written.join('')).toContain('1970-01-01T00:00:05Z');
  }, PATIENCE);
  await server.stop();
  await vi.waitFor(async () => {
    await clock.advance(5_000);
    expect(written.join('')).toContain('debug socket');
  }, PATIENCE);
  stop.abort();
  expect(await watching).toBe(0);
  expect([written[0], written.at(-1)]).toEqual(['\u001b[?1049h', '\u001b[?1049l']);
  await operatorClock.advance(TICK_MS);
});

test('a wrong interval means a second', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const output = { write: () => undefined };
  const host = { env: {}, cwd: '/', clock, stdout: output, stderr: output, stopSignal: () => stop.signal };
  const watching = watchResponse(join(directory, 'none'), '/', 'soon', host);
  await vi.waitFor(() => expect(clock.pendingDelaysMs).toEqual([250, 1_000]), PATIENCE);
  await clock.advance(250);
  await vi.waitFor(() => expect(clock.pendingDelaysMs).toEqual([750, 750]), PATIENCE);
  stop.abort();
  await watching;
});
