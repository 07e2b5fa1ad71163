import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
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

test.each([
  [404, '{"error":{"code":"REQUEST_INVALID","message":"there is no run 999"}}', 'there is no run 999'],
  [404, 'there is no module web', 'there is no module web'],
  [500, '{"error":"a text"}', '{"error":"a text"}'],
  [200, '{"error":{"message":"the last one"}}', '{"error":{"message":"the last one"}}'],
])('requestDebug() returns the message of a response %i %s', async (status, sent, body) => {
  const path = join(directory, 'daemon.socket');
  const daemon = createHttpServer((_request, response) => response.writeHead(status).end(sent));
  await new Promise<void>((listening) => daemon.listen(path, listening));
  try {
    expect(await requestDebug({ socketPath: path, path: '/' }, new FakeClock())).toMatchObject({
      status,
      body,
    });
  } finally {
    await new Promise((closed) => daemon.close(closed));
  }
});

test.each([
  [120, 'its path exceeds the maximum length for sockets (107 bytes, on macOS 103)'],
  [10, 'no operator runs here: there is no debug socket'],
])('requestDebug() says why a socket with a name of %i bytes cannot be used', async (length, why) => {
  const request = requestDebug(
    { socketPath: join(directory, 'x'.repeat(length)), path: '/' },
    new FakeClock(),
  );
  await expect(request).rejects.toMatchObject({
    code: 'DEBUG_SOCKET',
    message: expect.stringContaining(why),
  });
});
