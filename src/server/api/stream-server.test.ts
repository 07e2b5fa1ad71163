import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { followStream } from '@addon-operator/http-server/stream-client';
import { expect, onTestFinished, test } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../../test/support/daemon-view-stub.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { startDebugServer } from '../debug-server.ts';
import { MAX_STREAMS, TICK_MS } from './stream-hub.ts';

async function start(view = daemonView(), clock: Clock = systemClock): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'stream-'));
  const socketPath = join(directory, 'debug.socket');
  const identity = { ...NO_COMMANDS.identity, clock };
  const parameters = { list: () => [], set: () => undefined };
  const endpoint = { view, parameters, ...NO_COMMANDS, identity };
  const server = await startDebugServer(socketPath, endpoint, silentLogger, async () => 0);
  onTestFinished(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });
  return socketPath;
}

async function open(socketPath: string, path = '/api/v1/stream'): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = get({ socketPath, path, agent: false }, resolve).on('error', reject);
  onTestFinished(() => void request.destroy());
  return await promise;
}

test('of 50 clients as many as allowed are served, the others are refused', async () => {
  const socketPath = await start();
  const responses = await Promise.all(Array.from({ length: 50 }, () => open(socketPath)));
  const statuses = responses.map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_STREAMS);
  expect(statuses.filter((status) => status === 503)).toHaveLength(50 - MAX_STREAMS);
});

test('a client that never reads is dropped, so that memory is bounded', async () => {
  let round = 0;
  const text = 'x'.repeat(512 * 1024);
  const view = daemonView({
    stateKey: () => String((round += 1)),
    taskQueues: () => [
      {
        name: `${round} ${text}`,
        length: 0,
        keys: 0,
        status: { type: 'idle', since: null, until: null },
        tasks: [],
      },
    ],
  });
  const clock = new FakeClock();
  const response = await open(await start(view, clock));
  response.pause();
  for (let tick = 0; tick < 50; tick += 1) await clock.advance(TICK_MS);
  let bytes = 0;
  const end = Promise.withResolvers<void>();
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  response.on('error', () => end.resolve());
  response.on('close', () => end.resolve());
  response.resume();
  await end.promise;
  expect(bytes).toBeLessThan(4 * 1024 * 1024);
});

test.each([
  ['?topic=runs', 'unknown query parameter "topic"'],
  ['?topics=runs,all', '"topics" must name some of queues,modules,runs,next,headline,log,output'],
])('%s is refused', async (query, message) => {
  const response = await open(await start(), `/api/v1/stream${query}`);
  const chunks = await response.toArray();
  expect(JSON.parse(Buffer.concat(chunks as Buffer[]).toString())).toMatchObject({ error: { message } });
});

test('the client of commands gets events, and ends with its signal', async () => {
  const socketPath = await start();
  const stop = new AbortController();
  const events: string[] = [];
  await followStream({ socketPath, path: '/api/v1/stream?topics=next' }, stop.signal, ({ event, data }) => {
    events.push(`${event} ${JSON.stringify(data)}`);
    if (event === 'ready') stop.abort();
  });
  expect(events).toEqual([
    expect.stringMatching(/^hello .*"bootId":"boot"/) as string,
    'snapshot {"topic":"next","data":{"items":[]}}',
    'ready {}',
  ]);
});
