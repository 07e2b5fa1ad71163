import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { type Respond, startLoopbackServer } from '../../test/support/loopback-server.ts';
import { queryPrometheus } from './query-prometheus.ts';

const never = new AbortController().signal;

async function observed(respond: Respond, timeoutMs?: number) {
  const server = await startLoopbackServer(respond);
  try {
    const observation = await queryPrometheus(
      { url: `${server.url}/`, promql: 'up{job="web"} + 1' },
      { clock: systemClock, timeoutMs },
      never,
    );
    return { observation, requests: server.requests };
  } finally {
    server.cutConnections();
    await server.stop();
  }
}

test('an instant query is sent below the base address, and its value is read', async () => {
  const { observation, requests } = await observed((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1, '2'] } }));
  });
  expect(observation).toEqual({ type: 'value', value: 2 });
  expect(requests).toMatchObject([
    { method: 'GET', path: '/api/v1/query', query: { query: 'up{job="web"} + 1' } },
  ]);
});

test.each<readonly [string, Respond, string]>([
  ['status 503', (_request, response) => response.writeHead(503).end('no'), 'responds with status 503'],
  [
    'a query that is none',
    (_request, response) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"status":"error","errorType":"bad_data","error":"parse error at char 3"}'),
    'Prometheus refuses the query: parse error at char 3',
  ],
  [
    'a redirect',
    (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    'responds with status 302',
  ],
  ['a cut connection', (_request, response) => response.destroy(), 'Prometheus cannot be queried: '],
  ['no JSON', (_request, response) => response.end('<html>'), 'Prometheus cannot be queried: '],
  [
    'a large response',
    (_request, response) => response.end(' '.repeat(2 * 1024 * 1024)),
    'its response is larger than 1048576 bytes',
  ],
])('%s is unknown, with the reason', async (_name, respond, reason) => {
  const { observation } = await observed(respond);
  expect(observation).toEqual({ type: 'unknown', reason: expect.stringContaining(reason) });
});

test('a server that does not respond in time is unknown', async () => {
  const { observation } = await observed(() => undefined, 50);
  expect(observation).toEqual({
    type: 'unknown',
    reason: expect.stringContaining('no response within 50 ms'),
  });
});

test('a refused connection and an address that is none are unknown', async () => {
  const server = await startLoopbackServer(() => undefined);
  await server.stop();
  const refused = await queryPrometheus({ url: server.url, promql: 'up' }, { clock: systemClock }, never);
  expect(refused).toEqual({ type: 'unknown', reason: expect.stringContaining('ECONNREFUSED') });
  expect(
    await queryPrometheus({ url: 'prometheus', promql: 'up' }, { clock: systemClock }, never),
  ).toMatchObject({
    type: 'unknown',
  });
});

test('an address with a password is refused without showing it', async () => {
  const observation = await queryPrometheus(
    { url: 'http://me:hunter2@prometheus', promql: 'up' },
    { clock: systemClock },
    never,
  );
  expect(observation).toEqual({ type: 'unknown', reason: expect.not.stringContaining('hunter2') });
});

test('a query ends with the reason of its signal', async () => {
  const reason = new Error('stop');
  await expect(
    queryPrometheus(
      { url: 'http://127.0.0.1:1', promql: 'up' },
      { clock: systemClock },
      AbortSignal.abort(reason),
    ),
  ).rejects.toBe(reason);
});
