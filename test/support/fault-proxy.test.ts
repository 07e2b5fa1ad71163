import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { FakeClock } from './fake-clock.ts';
import { FaultProxy } from './fault-proxy.ts';

const arrived: string[] = [];
let stream: ((text: string) => void) | undefined;
let upstream: Server;
let proxy: FaultProxy;

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrived.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`.trim());
      if (request.url?.includes('watch') === true) {
        response.flushHeaders();
        stream = (text) => response.write(text);
      } else response.end('0123456789');
    });
  });
  await new Promise<void>((resolve) => {
    upstream.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => {
  upstream.closeAllConnections();
  upstream.close();
});
const clock = new FakeClock();
beforeEach(async () => {
  arrived.length = 0;
  proxy = await FaultProxy.start(
    { serverUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` },
    clock,
  );
});
afterEach(async () => await proxy.close());

async function get(path: string, signal?: AbortSignal): Promise<string> {
  const response = await fetch(`${proxy.url}${path}`, signal === undefined ? {} : { signal });
  return `${response.status} ${await response.text()}`;
}

test('a request without a rule is forwarded with its body, and recorded', async () => {
  const response = await fetch(`${proxy.url}/api/v1/pods?x=1`, { method: 'POST', body: 'hello' });
  expect(await response.text()).toBe('0123456789');
  expect(arrived).toEqual(['POST /api/v1/pods?x=1 hello']);
  expect(proxy.calls).toMatchObject([
    { verb: 'create', path: '/api/v1/pods', query: 'x=1', fault: null, status: 200 },
  ]);
});

test('a status rule responds instead of the server, at most as often as it allows', async () => {
  const rule = proxy.add(
    { verb: 'list', path: /pods/, skip: 1, times: 1 },
    { type: 'status', status: 429, retryAfterSeconds: 3 },
  );
  expect(await get('/api/v1/pods')).toBe('200 0123456789');
  const refused = await fetch(`${proxy.url}/api/v1/pods`);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3']);
  expect(await refused.json()).toMatchObject({ kind: 'Status', reason: 'TooManyRequests', code: 429 });
  expect(await get('/api/v1/pods')).toBe('200 0123456789');
  expect([rule.hits, arrived.length]).toEqual([1, 2]);
});

test('a rule does not affect other verbs, paths and queries', async () => {
  proxy.add({ verb: 'list', path: /pods$/, query: /limit=1/ }, { type: 'status', status: 500 });
  expect(await get('/api/v1/pods')).toMatch(/^200/);
  expect(await get('/api/v1/pods/a?limit=1')).toMatch(/^200/);
  expect(await get('/api/v1/services?limit=1')).toMatch(/^200/);
  expect(await get('/api/v1/pods?limit=1')).toMatch(/^500/);
});

test('a held request continues when its rule is released', async () => {
  const rule = proxy.add({}, { type: 'hold' });
  const reply = get('/api/v1/pods');
  await rule.untilHit();
  expect(arrived).toEqual([]);
  rule.release();
  expect(await reply).toBe('200 0123456789');
});

test('a delayed request continues after its delay', async () => {
  proxy.add({}, { type: 'delay', ms: 5_000 });
  const reply = get('/api/v1/pods');
  await clock.untilAsleep();
  expect(arrived).toEqual([]);
  await clock.advance(5_000);
  expect(await reply).toBe('200 0123456789');
});

test('a reset connection is an error for the client', async () => {
  proxy.add({}, { type: 'rst' });
  await expect(get('/api/v1/pods')).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  expect(proxy.calls).toMatchObject([{ fault: 'rst', status: null }]);
});

test('a blackholed request gets no response and is not forwarded', async () => {
  const rule = proxy.add({}, { type: 'blackhole' });
  const giveUp = new AbortController();
  const reply = get('/api/v1/pods', giveUp.signal);
  await rule.untilHit();
  giveUp.abort(new Error('given up'));
  await expect(reply).rejects.toThrow('given up');
  expect(arrived).toEqual([]);
});

test('a response is cut after the given number of bytes', async () => {
  proxy.add({}, { type: 'cut-after-bytes', bytes: 4 });
  const response = await fetch(`${proxy.url}/api/v1/pods`);
  const received: Uint8Array[] = [];
  await expect(async () => {
    for await (const chunk of response.body ?? []) received.push(chunk);
  }).rejects.toThrow('terminated');
  expect(Buffer.concat(received).toString()).toBe('0123');
});

test('a write can be applied and its response lost', async () => {
  proxy.add({ verb: 'update' }, { type: 'apply-then-fail', status: 504 });
  const response = await fetch(`${proxy.url}/api/v1/namespaces/a/pods/b`, { method: 'PUT', body: 'new' });
  expect(response.status).toBe(504);
  expect(arrived).toEqual(['PUT /api/v1/namespaces/a/pods/b new']);
});

test('a frozen proxy keeps an open stream silent until it thaws', async () => {
  const response = await fetch(`${proxy.url}/api/v1/pods?watch=true`);
  const reader = response.body?.getReader();
  proxy.freeze();
  stream?.('late');
  let isRead = false;
  const chunk = reader?.read().then(({ value }) => {
    isRead = true;
    return Buffer.from(value ?? []).toString();
  });
  const other = get('/api/v1/services');
  await fetch(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}/direct`).then((r) => r.text());
  expect(isRead).toBe(false);
  expect(arrived).not.toContain('GET /api/v1/services');
  proxy.thaw();
  expect(await chunk).toBe('late');
  expect(await other).toMatch(/^200/);
});

test('a disconnected proxy refuses connections, and comes back on the same port', async () => {
  const watch = await fetch(`${proxy.url}/api/v1/pods?watch=true`);
  const text = watch.text();
  await Promise.all([expect(text).rejects.toThrow('terminated'), proxy.disconnect()]);
  await expect(get('/api/v1/pods')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  await proxy.connect();
  expect(await get('/api/v1/pods')).toMatch(/^200/);
});

test('an unavailable server looks like a broken connection', async () => {
  const lost = await FaultProxy.start({ serverUrl: 'http://127.0.0.1:1' });
  await expect(fetch(`${lost.url}/api`)).rejects.toThrow('fetch failed');
  await lost.close();
});
