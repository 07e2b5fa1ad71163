import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { TokenBucket } from '@addon-operator/concurrency/token-bucket';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import {
  type LoopbackServer,
  type Respond,
  responseJson,
  responseStatus,
  startLoopbackServer,
} from '../../../test/support/loopback-server.ts';
import type { Credentials } from './credentials.ts';
import { HttpKubeClient, type HttpKubeClientOptions, type RequestObservation } from './http-kube-client.ts';
import { hasStatus, KubeApiError } from './kube-client.ts';

const never = new AbortController().signal;

async function setUp(respond: Respond, overrides: Partial<HttpKubeClientOptions> = {}) {
  const server = await startLoopbackServer(respond);
  onTestFinished(() => server.stop());
  return { server, ...clientOf(server, overrides) };
}

function clientOf(server: Pick<LoopbackServer, 'url'>, overrides: Partial<HttpKubeClientOptions> = {}) {
  const clock = new FakeClock();
  const observations: RequestObservation[] = [];
  const client = new HttpKubeClient({
    access: {
      server: server.url,
      currentNamespace: 'default',
      source: 'test',
      tls: { isVerified: true },
      identity: { type: 'anonymous' },
    },
    credentials: fixedCredentials({}),
    clock,
    random: () => 0,
    version: '1.2.3',
    onRequest: (observation) => observations.push(observation),
    ...overrides,
  });
  onTestFinished(() => client.close());
  return { client, clock, observations };
}

function fixedCredentials(credentials: Credentials): HttpKubeClientOptions['credentials'] {
  return { current: async () => credentials, refresh: async () => credentials };
}

/** The error of the rejected promise. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const get = { method: 'GET', path: '/api/v1/pods' } as const;

test('request() sends query, body, type and agent, and parses the response exactly', async () => {
  const { client, server, observations } = await setUp((_, response) => {
    response.end('{"n":9007199254740993}');
  });
  const reply = await client.request(
    {
      method: 'PATCH',
      path: '/api/v1/namespaces/a/pods/b',
      query: { dryRun: 'All', skipped: undefined, s: 'a=b&c' },
      body: { x: 'ü' },
      contentType: 'application/merge-patch+json',
    },
    never,
  );
  expect(JSON.stringify(reply)).toBe('{"n":9007199254740993}');
  expect(server.requests[0]).toMatchObject({
    method: 'PATCH',
    query: { dryRun: 'All', s: 'a=b&c' },
    body: '{"x":"ü"}',
    headers: {
      'content-type': 'application/merge-patch+json',
      accept: 'application/json',
      'user-agent': 'addon-operator/1.2.3',
    },
  });
  expect(observations).toEqual([
    {
      verb: 'PATCH',
      status: 200,
      durationMs: 0,
      pathTemplate: '/api/v1/namespaces/{namespace}/pods/{name}',
    },
  ]);
});

test('request() reads compressed responses and returns undefined for an empty one', async () => {
  const { client } = await setUp((request, response) => {
    if (request.path === '/empty') response.end();
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}'));
  });
  expect(await client.request(get, never)).toEqual({ a: 1 });
  expect(await client.request({ method: 'GET', path: '/empty' }, never)).toBeUndefined();
});

test('request() throws the Status that the server returned as a KubeApiError', async () => {
  const { client } = await setUp((request, response) => {
    if (request.path === '/plain') response.writeHead(404).end('404 page not found\n');
    else responseStatus(response, 409, 'AlreadyExists', 'pods "p" already exists');
  });
  const error = await failureOf(client.request(get, never));
  expect(error).toBeInstanceOf(KubeApiError);
  expect(error).toMatchObject({
    code: 'KUBE_API',
    status: 409,
    reason: 'AlreadyExists',
    message: 'The API server refused GET /api/v1/pods: 409 AlreadyExists: pods "p" already exists',
  });
  const plain = await client
    .request({ method: 'GET', path: '/plain' }, never)
    .catch((error: unknown) => error);
  expect(plain).toMatchObject({
    status: 404,
    reason: '',
    message: expect.stringContaining('404 page not found'),
  });
});

test('request() throws KUBE_UNREACHABLE when no server listens, the response is cut or is no JSON', async () => {
  const { client: nobody } = clientOf({ url: 'http://127.0.0.1:9' });
  await expect(nobody.request(get, never)).rejects.toMatchObject({ code: 'KUBE_UNREACHABLE' });

  const { client, observations } = await setUp((request, response) => {
    if (request.path === '/html') response.end('<html>');
    else {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"items":[');
      response.socket?.end();
    }
  });
  await expect(client.request(get, never)).rejects.toThrow('cut off');
  await expect(client.request({ method: 'GET', path: '/html' }, never)).rejects.toThrow('not JSON');
  expect(observations).toMatchObject([
    { status: undefined, error: { code: 'KUBE_UNREACHABLE' } },
    { status: 200 },
  ]);
});

test('request() throws KUBE_UNREACHABLE when the name of the server does not resolve', async () => {
  const { client } = clientOf({ url: 'http://api-server.invalid' });
  await expect(client.request(get, never)).rejects.toMatchObject({
    code: 'KUBE_UNREACHABLE',
    message: expect.stringContaining('api-server.invalid'),
  });
});

test('request() does not repeat a write that was reset after it was sent', async () => {
  const { client, server } = await setUp((request, response) => {
    if (request.method === 'GET') responseJson(response, 200, {});
    else response.socket?.destroy();
  });
  // A connection that was used before is the case in which repeating would be tempting.
  await client.request(get, never);
  await expect(
    client.request({ method: 'POST', path: '/api/v1/pods', body: {} }, never),
  ).rejects.toMatchObject({ code: 'KUBE_UNREACHABLE' });
  expect(server.requests.filter((request) => request.method === 'POST')).toHaveLength(1);
});

test('request() repeats a GET whose idle connection was closed', async () => {
  let responded = 0;
  const { client, server } = await setUp((_, response) => {
    responded += 1;
    if (responded === 2) response.socket?.destroy();
    else responseJson(response, 200, { responded });
  });
  await client.request(get, never);
  expect(await client.request(get, never)).toEqual({ responded: 3 });
  expect(server.requests).toHaveLength(3);
});

test('request() ends at its deadline when the server is frozen', async () => {
  const { client, clock } = await setUp(() => undefined);
  const long = failureOf(client.request(get, never));
  const short = failureOf(client.request({ ...get, timeoutMs: 2_000 }, never));
  await clock.untilAsleep(2);
  await clock.advance(2_000);
  expect(await short).toMatchObject({
    code: 'KUBE_UNREACHABLE',
    message: expect.stringContaining('within 2 s'),
  });
  await clock.advance(58_000);
  expect(await long).toMatchObject({
    code: 'KUBE_UNREACHABLE',
    message: expect.stringContaining('within 60 s'),
  });
  while (clock.pendingDelaysMs.length > 0) await settle();
});

test('request() fails when it cannot connect for 10 s', async () => {
  // Takes the connection and never answers the TLS handshake.
  const silent = createServer();
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    silent.close();
  });
  const { client, clock } = clientOf({ url: `https://127.0.0.1:${(silent.address() as AddressInfo).port}` });
  const failing = failureOf(client.request(get, never));
  await clock.untilAsleep(2);
  expect(clock.pendingDelaysMs).toEqual([10_000, 60_000]);
  await clock.advance(10_000);
  expect(await failing).toMatchObject({
    code: 'KUBE_UNREACHABLE',
    message: expect.stringContaining('within 10 s'),
  });
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('request() rejects with the reason of the abort and frees its timers', async () => {
  const { client, clock, server } = await setUp(() => undefined);
  const controller = new AbortController();
  const reason = new Error('stop');
  const aborted = failureOf(client.request(get, controller.signal));
  while (server.requests.length === 0) await settle();
  controller.abort(reason);
  expect(await aborted).toBe(reason);
  expect(clock.pendingDelaysMs).toEqual([]);
  expect(await failureOf(client.request(get, controller.signal))).toBe(reason);
});

test('request() waits as long as 429 says, and fails after four repetitions', async () => {
  const { client, clock, server } = await setUp((_, response) => {
    responseStatus(response, 429, 'TooManyRequests', 'slow down', { 'retry-after': '3' });
  });
  const failing = failureOf(client.request(get, never));
  for (let retry = 1; retry <= 4; retry += 1) {
    while (!clock.pendingDelaysMs.includes(3_000)) await settle();
    expect(server.requests).toHaveLength(retry);
    await clock.advance(3_000);
  }
  const error = await failing;
  expect(hasStatus(error, 429) && error.retryAfterSeconds).toBe(3);
  expect(server.requests).toHaveLength(5);
});

test('request() does not wait beyond its deadline', async () => {
  const { client, server } = await setUp((_, response) => {
    responseStatus(response, 429, 'TooManyRequests', 'slow down', { 'retry-after': '60' });
  });
  await expect(client.request(get, never)).rejects.toMatchObject({ status: 429 });
  expect(server.requests).toHaveLength(1);
});

test('request() repeats once with fresh credentials after 401', async () => {
  let refreshed = 0;
  const credentials = {
    current: async () => ({ authorization: 'Bearer old' }),
    refresh: async () => {
      refreshed += 1;
      return { authorization: 'Bearer new' };
    },
  };
  const { client, server } = await setUp(
    (request, response) => {
      if (request.headers.authorization === 'Bearer new' && request.path !== '/denied')
        responseJson(response, 200, {});
      else responseStatus(response, 401, 'Unauthorized');
    },
    { credentials },
  );
  await client.request(get, never);
  expect(server.requests.map((request) => request.headers.authorization)).toEqual([
    'Bearer old',
    'Bearer new',
  ]);
  await expect(client.request({ method: 'GET', path: '/denied' }, never)).rejects.toMatchObject({
    status: 401,
  });
  expect(refreshed).toBe(2);
});

test('request() keeps to the rate limit', async () => {
  const clock = new FakeClock();
  const { client, server } = await setUp((_, response) => responseJson(response, 200, {}), {
    clock,
    limiter: new TokenBucket({ intervalMs: 1_000, burst: 1 }, clock),
  });
  await client.request(get, never);
  const second = client.request(get, never);
  await clock.untilAsleep();
  expect(server.requests).toHaveLength(1);
  await clock.advance(1_000);
  await second;
});

test('request() refuses a path that a URL would change', async () => {
  const { client, server } = await setUp((_, response) => responseJson(response, 200, {}));
  const path = '/api/v1/namespaces/a/pods/..';
  await expect(client.request({ method: 'DELETE', path }, never)).rejects.toMatchObject({ code: 'INTERNAL' });
  expect(server.requests).toHaveLength(0);
});

async function collect(lines: AsyncIterable<string>): Promise<unknown[]> {
  const seen: unknown[] = [];
  try {
    for await (const line of lines) seen.push(line);
  } catch (error) {
    seen.push(error);
  }
  return seen;
}

test('stream() delivers lines until the server ends the stream', async () => {
  const { client, server, observations } = await setUp((_, response) => {
    response.write('{"a":"gr\u00fc');
    response.write('n"}\n{"b":2}\n');
    response.end();
  });
  expect(await collect(await client.stream({ ...get, query: { watch: 'true' } }, never))).toEqual([
    '{"a":"grün"}',
    '{"b":2}',
  ]);
  expect(server.requests[0]?.headers['accept-encoding']).toBeUndefined();
  expect(observations).toMatchObject([{ verb: 'WATCH', status: 200 }]);
});

test('stream() breaks with KUBE_UNREACHABLE and drops the piece of a line', async () => {
  const { client, server } = await setUp((_, response) => {
    response.write('{"a":1}\n{"b":');
  });
  const collecting = collect(await client.stream(get, never));
  server.cutConnections();
  expect(await collecting).toEqual(['{"a":1}', expect.objectContaining({ code: 'KUBE_UNREACHABLE' })]);
});

test('stream() rejects with the reason of an abort, and closes its connection', async () => {
  const closed = Promise.withResolvers<void>();
  const { client, clock } = await setUp((_, response) => {
    response.write('{"a":1}\n');
    response.once('close', closed.resolve);
  });
  const controller = new AbortController();
  const reason = new Error('stop');
  const collecting = collect(await client.stream(get, controller.signal));
  await settle();
  controller.abort(reason);
  expect((await collecting).at(-1)).toBe(reason);
  await closed.promise;
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('stream() closes the connection of a reader that leaves or never comes', async () => {
  const closed: Promise<void>[] = [];
  const { client } = await setUp((_, response) => {
    closed.push(
      new Promise((resolve) => {
        response.once('close', resolve);
      }),
    );
    response.write('{"a":1}\n');
  });
  for await (const line of await client.stream(get, never)) {
    expect(line).toBe('{"a":1}');
    break;
  }
  const controller = new AbortController();
  await client.stream(get, controller.signal);
  controller.abort(new Error('stop'));
  expect(closed).toHaveLength(2);
  await Promise.all(closed);
});

test('stream() throws a refusal at once, 429 included', async () => {
  const { client, server } = await setUp((_, response) => {
    responseStatus(response, 429, 'TooManyRequests', 'slow down', { 'retry-after': '7' });
  });
  await expect(client.stream(get, never)).rejects.toMatchObject({ status: 429, retryAfterSeconds: 7 });
  expect(server.requests).toHaveLength(1);
});

test('stream() waits for headers no longer than its deadline', async () => {
  const { client, clock } = await setUp(() => undefined);
  const failing = failureOf(client.stream({ ...get, timeoutMs: 5_000 }, never));
  await clock.untilAsleep();
  await clock.advance(5_000);
  expect(await failing).toMatchObject({ code: 'KUBE_UNREACHABLE' });
});

test('beforeWrite is called right before a write is sent, after the wait for the rate limit, and can refuse it', async () => {
  const refused = new Error('not the leader');
  const asked: number[] = [];
  const clock = new FakeClock();
  const { client, server } = await setUp((_, response) => responseJson(response, 200, {}), {
    clock,
    limiter: new TokenBucket({ intervalMs: 1_000, burst: 1 }, clock),
    beforeWrite: () => {
      asked.push(clock.steadyMs());
      if (asked.length > 1) throw refused;
    },
  });
  await client.request({ method: 'POST', path: '/api/v1/pods', body: {} }, never);
  const reading = client.request(get, never);
  await clock.untilAsleep();
  await clock.advance(1_000);
  await reading;
  expect(asked).toEqual([0]);
  const late = failureOf(client.request({ method: 'DELETE', path: '/api/v1/pods' }, never));
  await clock.untilAsleep();
  await clock.advance(1_000);
  expect(await late).toBe(refused);
  expect(asked).toEqual([0, 2_000]);
  expect(server.requests).toHaveLength(2);
});

test('request() sends no write at sendBeforeMs or later, when the rate limit or a connection held it up until then', async () => {
  const clock = new FakeClock();
  const limiter = new TokenBucket({ intervalMs: 1_000, burst: 1 }, clock);
  const { client, server } = await setUp((_, response) => responseJson(response, 200, {}), {
    clock,
    limiter,
  });
  const write = { method: 'PUT', path: '/api/v1/pods/a', body: {}, sendBeforeMs: 1_000 } as const;
  await client.request(write, never);
  const late = failureOf(client.request(write, never));
  await clock.untilAsleep();
  await clock.advance(1_000);
  expect(await late).toMatchObject({
    code: 'KUBE_UNREACHABLE',
    message: expect.stringContaining('it could not be sent in time'),
  });
  expect(server.requests).toHaveLength(1);
});
