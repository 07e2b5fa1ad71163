import { get, type IncomingMessage } from 'node:http';
import { type Clock, systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { serve } from '@addon-operator/http-server/serve';
import { StaticFiles } from '@addon-operator/http-server/static-files';
import { expect, onTestFinished, test } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../test/support/daemon-view-stub.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createApi } from '../server/api/api.ts';
import { trustedRequester } from '../server/api/requester.ts';
import { MAX_STREAMS, TICK_MS } from '../server/api/stream-hub.ts';
import { SECURITY_HEADERS } from './start-ui.ts';
import { uiHandler } from './ui-handler.ts';

const TICKS = 200;

/** Serves the API as the page has it, and returns the port. */
async function start(view = daemonView(), clock: Clock = systemClock): Promise<number> {
  const identity = { ...NO_COMMANDS.identity, clock };
  const api = createApi({ view, ...NO_COMMANDS, identity, parameters: { list: () => [] } });
  const handler = uiHandler({
    content: () => ({ api, signIn: async () => trustedRequester('page', { allowsActions: false }) }),
    files: new StaticFiles('/nonexistent'),
    auth: 'token',
    allowedHosts: [],
    hasActions: false,
  });
  const server = await serve({ host: '127.0.0.1', port: 0 }, handler, silentLogger, SECURITY_HEADERS);
  onTestFinished(() => server.stop());
  return server.port;
}

async function open(port: number): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { host: '127.0.0.1', port, path: '/api/v1/stream', agent: false };
  const request = get(options, resolve).on('error', reject);
  onTestFinished(() => void request.destroy());
  return await promise;
}

test('of 50 pages as many as allowed are served, the others are refused, and one that ends makes room', async () => {
  const port = await start();
  const responses = await Promise.all(Array.from({ length: 50 }, () => open(port)));
  const served = responses.filter(({ statusCode }) => statusCode === 200);
  expect(served).toHaveLength(MAX_STREAMS);
  expect(responses.filter(({ statusCode }) => statusCode === 503)).toHaveLength(50 - MAX_STREAMS);
  served[0]?.destroy();
  await expect.poll(async () => (await open(port)).statusCode, { timeout: 30_000 }).toBe(200);
});

test('a page that never reads is dropped, so that memory is bounded', async () => {
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
  // The kernel takes some megabytes before anything is left unsent.
  const end = Promise.withResolvers<void>();
  response.on('error', () => end.resolve()).on('close', () => end.resolve());
  for (let tick = 0; tick < TICKS; tick += 1) await clock.advance(TICK_MS);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  response.resume();
  await end.promise;
  expect(bytes).toBeLessThan((TICKS * text.length) / 2);
  // Without clients nothing is computed.
  expect(round).toBeLessThan(TICKS / 2);
});
