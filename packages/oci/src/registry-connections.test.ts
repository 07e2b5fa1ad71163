import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, issueCertificate } from '@addon-operator/crypto/x509-certificate';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { RegistryConnections } from './registry-connections.ts';

const { signal } = new AbortController();
const DAY_MS = 86_400_000;
const now = Date.now();
const valid = { notBeforeMs: now - DAY_MS, notAfterMs: now + DAY_MS };
const authority = createAuthority({ commonName: 'authority of a test', ...valid });

let requests: {
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  readonly url: string;
}[] = [];
let connections = 0;
/** As registries do, HEAD with the length of the content. */
const content: RequestListener = (request, response) => {
  response.setHeader('Content-Length', 7).end(request.method === 'HEAD' ? undefined : 'content');
};
let respond = content;
const listener: RequestListener = (request, response) => {
  const { host, authorization } = request.headers;
  requests.push({ host, authorization, url: request.url ?? '' });
  respond(request, response);
};
const stops = new AsyncDisposableStack();

async function serve(tls?: {
  readonly names: readonly string[];
  readonly notAfterMs?: number;
}): Promise<URL> {
  const period = { ...valid, ...(tls?.notAfterMs !== undefined && { notAfterMs: tls.notAfterMs }) };
  const server = tls
    ? createHttpsServer(
        issueCertificate(authority, { commonName: 'registry', ...period }, tls.names),
        listener,
      )
    : createHttpServer(listener);
  server.on(tls ? 'secureConnection' : 'connection', () => (connections += 1));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  stops.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  return new URL(`${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/v2/`);
}

let plain: URL;
let secure: URL;
let pool: RegistryConnections;
beforeAll(async () => {
  plain = await serve();
  secure = await serve({ names: ['127.0.0.1'] });
  pool = new RegistryConnections({ clock: new FakeClock(), ca: authority.cert });
});
afterEach(() => {
  requests = [];
  connections = 0;
  respond = content;
});
afterAll(async () => {
  pool.close();
  await stops.disposeAsync();
});

const get = async (url: URL, from = pool): Promise<string> => {
  const response = await from.send(
    { method: 'GET', url, headers: { Authorization: 'Basic secret' } },
    signal,
  );
  return `${response.status} ${(await response.bytes(100)).toString()}`;
};
const redirectTo = (location: () => string): RequestListener => {
  return (request, response) => {
    if (request.url === '/v2/') response.writeHead(307, { Location: location() }).end('moved');
    else response.end('content');
  };
};

test('requests after each other use one connection', async () => {
  for (let round = 0; round < 5; round += 1) {
    expect(await get(plain)).toBe('200 content');
    await (await pool.send({ method: 'HEAD', url: plain, headers: {} }, signal)).discard();
  }
  expect([requests.length, connections]).toEqual([10, 1]);
});

test('a redirect on the same host keeps the account, one to another host loses it', async () => {
  respond = redirectTo(() => '/blob?signature=x');
  expect(await get(plain)).toBe('200 content');
  expect(requests.map(({ authorization }) => authorization)).toEqual(['Basic secret', 'Basic secret']);
  requests = [];
  const other = await serve();
  respond = redirectTo(() => new URL('/blob?signature=x', other).href);
  expect(await get(plain)).toBe('200 content');
  expect(requests).toEqual([
    { host: plain.host, authorization: 'Basic secret', url: '/v2/' },
    { host: other.host, authorization: undefined, url: '/blob?signature=x' },
  ]);
});

test('a redirect from https to http is refused', async () => {
  respond = redirectTo(() => new URL('/blob?signature=x', plain).href);
  await expect(get(secure)).rejects.toMatchObject({
    code: 'REGISTRY_UNREACHABLE',
    message: `${secure.href}: it redirects to ${plain.origin}/blob without TLS`,
  });
  expect(requests).toHaveLength(1);
});

test('an authority of its own is trusted in addition to those of the system', async () => {
  expect(await get(secure)).toBe('200 content');
});

test.each([
  [
    'an authority that is not trusted',
    { names: ['127.0.0.1'] },
    false,
    'its certificate is of an authority that is not trusted; trust it as a CA of the source',
  ],
  ['another name', { names: ['registry.example.com'] }, true, 'its certificate is for another name'],
  [
    'a time that is over',
    { names: ['127.0.0.1'], notAfterMs: now - 1_000 },
    true,
    'its certificate has expired',
  ],
])('a certificate of %s is named', async (_, tls, isTrusted, problem) => {
  const url = await serve(tls);
  const from = isTrusted ? pool : new RegistryConnections({ clock: new FakeClock() });
  await expect(get(url, from)).rejects.toMatchObject({
    code: 'REGISTRY_UNREACHABLE',
    message: `${url.href}: ${problem}`,
  });
  expect(requests).toEqual([]);
});

test('a registry without TLS is named', async () => {
  const url = new URL(plain.href.replace('http:', 'https:'));
  await expect(get(url)).rejects.toMatchObject({
    code: 'REGISTRY_UNREACHABLE',
    message: `${url.href}: it does not speak TLS; only localhost and loopback addresses may be without`,
  });
});

test('a body that stops in the middle ends the request after the limit', async () => {
  const clock = new FakeClock();
  const patient = new RegistryConnections({ clock, responseTimeoutMs: 5_000 });
  respond = (_, response) => void response.writeHead(200, { 'Content-Length': '10' }).write('half');
  const response = await patient.send({ method: 'GET', url: plain, headers: {} }, signal);
  const chunks = response.chunks();
  expect(String((await chunks.next()).value)).toBe('half');
  expect(clock.pendingDelaysMs).toEqual([]);
  const rest = chunks.next().catch((error: unknown) => error);
  await clock.untilAsleep();
  await clock.advance(5_000);
  expect(await rest).toMatchObject({ message: `${plain.href}: no response within 5 s` });
});

test('an abort ends a request with the reason of the caller, and its upload', async () => {
  const started = Promise.withResolvers<void>();
  respond = () => started.resolve();
  const stop = new AbortController();
  let isClosed = false;
  const body = async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield await Promise.resolve(Buffer.alloc(65_536));
    } finally {
      isClosed = true;
    }
  };
  const sent = pool.send({ method: 'PUT', url: plain, headers: {}, body }, stop.signal);
  await started.promise;
  const reason = new Error('stopped');
  stop.abort(reason);
  await expect(sent).rejects.toBe(reason);
  await expect.poll(() => isClosed, { timeout: 60_000 }).toBe(true);
});

test('the failure of a source ends its upload with that failure', async () => {
  const failure = new Error('the file is gone');
  const body = async function* failing(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(Buffer.alloc(10));
    throw failure;
  };
  const sent = pool.send({ method: 'PUT', url: plain, headers: {}, body }, signal);
  await expect(sent).rejects.toMatchObject({ cause: failure });
});
