import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { requestDebug } from './debug-client.ts';

let directory = '';
let socketPath = '';
let silent: Server;
let connected: Promise<void>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'debug-client-'));
  socketPath = join(directory, 's');
  const { promise, resolve } = Promise.withResolvers<void>();
  connected = promise;
  // As the kernel does for a stopped process: connections are taken, nothing is answered.
  silent = createServer(() => resolve());
  await new Promise<void>((listening) => silent.listen(socketPath, listening));
});

afterEach(async () => {
  await new Promise((closed) => silent.close(closed));
  rmSync(directory, { recursive: true });
});

test('requestDebug() fails when the daemon takes the connection and is silent for 30 s', async () => {
  const clock = new FakeClock();
  const asked = requestDebug({ socketPath, path: '/queue/list.text' }, clock);
  asked.catch(() => undefined);
  await connected;
  await clock.advance(30_000);
  await expect(asked).rejects.toMatchObject({
    code: 'DEBUG_SOCKET',
    message: expect.stringContaining(`'${socketPath}' does not respond within 30 s`),
  });
});

test('requestDebug() ends with the reason of its signal, and leaves no connection', async () => {
  const stop = new AbortController();
  const asked = requestDebug({ socketPath, path: '/' }, new FakeClock(), stop.signal);
  asked.catch(() => undefined);
  await connected;
  stop.abort(new Error('Ctrl-C'));
  await settle();
  await expect(asked).rejects.toThrow('Ctrl-C');
  await expect(requestDebug({ socketPath, path: '/' }, new FakeClock(), stop.signal)).rejects.toThrow(
    'Ctrl-C',
  );
});
