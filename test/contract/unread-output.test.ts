import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';
import { makeGate, openGate } from '../support/world-processes.ts';

const DROPPED = 'log records were dropped because nothing read standard output';
const WAIT = { timeout: 120_000, interval: 50 };
/** Far more than a pipe and the buffer of the log hold. */
const TALK =
  'yes "a line of a hook that prints a lot, so that the log of the daemon is full" | head -n 60000';

let backend: SandboxBackend;
beforeAll(async () => {
  backend = await sandboxBackend();
});
afterAll(() => backend[Symbol.asyncDispose]());

/** A daemon whose first hook waits for the gate, then prints more than the log holds; the second one marks its run. */
async function createWorld(): Promise<World> {
  const world = await World.create(backend, {
    globalHooks: {
      'a.sh': shHook('onStartup: 1', `read -r go < "$WORLD/gate"; ${TALK}`),
      'b.sh': shHook('onStartup: 2', ': > "$WORLD/done"'),
    },
  });
  await makeGate(world);
  return world;
}

async function untilDone(world: World): Promise<void> {
  await vi.waitFor(() => expect(existsSync(join(world.directory, 'done'))).toBe(true), WAIT);
}

async function droppedRecords(daemon: DaemonProcess): Promise<number> {
  const metrics = await daemon.page('/metrics');
  return Number(/^addon_operator_log_records_dropped_total (\d+)$/m.exec(metrics)?.[1]);
}

test('a daemon continues and counts dropped records, when nothing reads its standard output', async () => {
  await using world = await createWorld();
  await using daemon = DaemonProcess.start(world);
  await daemon.record('HTTP server listens');
  daemon.stopReading();
  await openGate(world);
  await untilDone(world);
  expect(await daemon.status('/healthz')).toBe(200);
  expect(await droppedRecords(daemon)).toBeGreaterThan(0);
  daemon.readOn();
  expect(await daemon.record(DROPPED)).toMatchObject({ level: 'warn', droppedRecords: expect.any(Number) });
  daemon.signal('SIGTERM');
  expect(await daemon.exited).toEqual({ code: 0, signal: null });
});

test('a daemon continues and stops normally, when its standard output is closed', async () => {
  await using world = await createWorld();
  await using daemon = DaemonProcess.start(world);
  await daemon.record('HTTP server listens');
  daemon.closeOutput();
  await openGate(world);
  await untilDone(world);
  expect(await daemon.status('/healthz')).toBe(200);
  expect(await droppedRecords(daemon)).toBeGreaterThan(0);
  daemon.signal('SIGTERM');
  expect(await daemon.exited).toEqual({ code: 0, signal: null });
});
