import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { KubeApiError, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { withdrawLostPeers } from './webhook-peers.ts';

const SOON = { timeout: 60_000 };
const LABEL = 'addon-operator.io/webhooks';
/** Nothing listens there. */
const LOST = { metadata: { name: 'lost' }, status: { podIP: '127.0.0.2' } };
const ALIVE = { metadata: { name: 'alive' }, status: { podIP: '127.0.0.1' } };
const STARTING = { metadata: { name: 'starting' }, status: {} };
const OURS = { metadata: { name: 'ours' }, status: { podIP: '127.0.0.2' } };

let server: Server;
let stop: AbortController;

beforeEach(() => {
  stop = new AbortController();
  server = createServer((_, response) => response.writeHead(500).end());
});
afterEach(() => {
  stop.abort();
  server.closeAllConnections();
  server.close();
});

async function listen(address: string, port = 0): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(port, address, resolve);
  await promise;
  const listening = server.address();
  return typeof listening === 'object' && listening !== null ? listening.port : 0;
}

/** The leader among pods; `error` is what its list gets. */
function leader(port: number, pods: readonly object[], error?: Error) {
  const requests: KubeRequest[] = [];
  const clock = new FakeClock();
  const log = new CapturedLog(clock);
  const ended = withdrawLostPeers(
    {
      pod: { namespace: 'team', name: 'ours' },
      kube: {
        request: (request) => {
          requests.push(request);
          if (error !== undefined) return Promise.reject(error);
          return Promise.resolve(request.method === 'GET' ? { items: pods } : undefined);
        },
      },
      port,
      clock,
      log: log.logger,
    },
    stop.signal,
  );
  const patches = () => requests.filter(({ method }) => method === 'PATCH');
  /** Lets the next pause begin, and pass. */
  const pass = async (ms: number): Promise<void> => {
    await expect.poll(() => clock.pendingDelaysMs, SOON).toEqual([ms]);
    await clock.advance(ms);
  };
  return { ended, requests, patches, pass, clock, log };
}

test('the label of a pod that does not respond twice is removed, and that of one that responds is not', async () => {
  const { patches, requests, pass, log, ended } = leader(await listen('127.0.0.1'), [
    LOST,
    ALIVE,
    STARTING,
    OURS,
  ]);
  await pass(2_000);
  await pass(10_000);
  expect(requests[0]).toMatchObject({
    path: '/api/v1/namespaces/team/pods',
    query: { labelSelector: `${LABEL}=serving` },
  });
  expect(patches()).toMatchObject([
    { path: '/api/v1/namespaces/team/pods/lost', body: { metadata: { labels: { [LABEL]: null } } } },
  ]);
  expect(log.records).toMatchObject([{ level: 'warn', pod: 'lost' }]);
  stop.abort();
  await ended;
});

test('a pod that responds the second time keeps its label', async () => {
  const port = await listen('127.0.0.1');
  const { patches, pass, clock } = leader(port, [LOST]);
  await expect.poll(() => clock.pendingDelaysMs, SOON).toEqual([2_000]);
  const closed = once(server, 'close');
  server.close();
  await closed;
  await listen('127.0.0.2', port);
  await pass(2_000);
  await pass(10_000);
  expect(patches()).toEqual([]);
});

test('without permission to list pods a record says what to allow, and nothing is checked any more', async () => {
  const denied = new KubeApiError('pods is forbidden', { status: 403, reason: 'Forbidden' });
  const { ended, requests, log } = leader(await listen('127.0.0.1'), [], denied);
  await ended;
  expect(requests).toHaveLength(1);
  expect(log.records).toMatchObject([{ level: 'info', error: 'pods is forbidden' }]);
});

test('pods are checked again, after the API server did not respond', async () => {
  const away = new KubeApiError('unavailable', { status: 503, reason: '' });
  const { requests, pass } = leader(await listen('127.0.0.1'), [], away);
  await pass(10_000);
  await expect.poll(() => requests.length, SOON).toBe(2);
});
