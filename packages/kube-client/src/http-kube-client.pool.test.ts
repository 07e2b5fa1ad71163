import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { responseJson, startLoopbackServer } from '../../../test/support/loopback-server.ts';
import { ConnectionPool } from './connection-pool.ts';
import { HttpKubeClient } from './http-kube-client.ts';

const never = new AbortController().signal;
const get = { method: 'GET', path: '/api/v1/pods' } as const;

/** How many connections two clients open that send a request each, one after the other. */
async function connectionsOfTwo(isShared: boolean): Promise<number> {
  const sockets = new Set<Socket | null>();
  const server = await startLoopbackServer((_, response) => {
    sockets.add(response.socket);
    responseJson(response, 200, {});
  });
  onTestFinished(() => server.stop());
  const access = {
    server: server.url,
    currentNamespace: 'default',
    source: 'test',
    tls: { isVerified: true },
    identity: { type: 'anonymous' },
  } as const;
  const credentials = { current: async () => ({}), refresh: async () => ({}) };
  const pool = new ConnectionPool(access);
  for (let count = 0; count < 2; count += 1) {
    const common = { access, credentials, clock: new FakeClock(), random: () => 0, version: '1.2.3' };
    const client = new HttpKubeClient({ ...common, ...(isShared && { pool }) });
    onTestFinished(() => client.close());
    await client.request(get, never);
  }
  return sockets.size;
}

test('clients use one idle connection, when they share a pool', async () => {
  expect(await connectionsOfTwo(true)).toBe(1);
});

test('each client opens a connection, when they share none', async () => {
  expect(await connectionsOfTwo(false)).toBe(2);
});
