import { connect } from 'node:net';
import { silentLogger } from '@addon-operator/base/log';
import type { RunningServer } from '@addon-operator/http-server/serve';
import { afterEach, expect, test } from 'vitest';
import { daemonView } from '../../test/support/daemon-view-stub.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import { startHttpServer } from './http-server.ts';

const servers: RunningServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function start(view?: Partial<DaemonView>, port = 0): Promise<RunningServer> {
  const server = await startHttpServer({
    address: '127.0.0.1',
    port,
    view: daemonView(view),
    operatorMetrics: () => Promise.resolve('live_ticks 1\n'),
    hookMetrics: () => 'from_hook 2\n',
    log: silentLogger,
  });
  servers.push(server);
  return server;
}

async function ask(server: RunningServer, path: string, init?: RequestInit) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, init);
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
}

test('metrics of the daemon and of hooks have paths of their own', async () => {
  const server = await start();
  const type = 'text/plain; version=0.0.4; charset=utf-8';
  expect(await ask(server, '/metrics')).toEqual({ status: 200, type, body: 'live_ticks 1\n' });
  expect(await ask(server, '/metrics/hooks')).toEqual({ status: 200, type, body: 'from_hook 2\n' });
});

test('/healthz returns an empty body', async () => {
  expect(await ask(await start(), '/healthz')).toMatchObject({ status: 200, body: '' });
});

test('/readyz follows the first converge', async () => {
  let isConverged = false;
  const server = await start({ readiness: () => ({ type: isConverged ? 'converged' : 'converging' }) });
  expect(await ask(server, '/readyz')).toMatchObject({ status: 500, body: 'Startup converge in progress\n' });
  isConverged = true;
  expect(await ask(server, '/readyz')).toMatchObject({ status: 200, body: 'Startup converge done.\n' });
});

test('/status/converge speaks text and JSON', async () => {
  const server = await start({ convergeStatus: () => ({ type: 'first', tasks: 2 }) });
  expect((await ask(server, '/status/converge')).body).toBe('STARTUP_CONVERGE_IN_PROGRESS: 2 tasks\n');
  expect(JSON.parse((await ask(server, '/status/converge?output=json')).body)).toMatchObject({
    STARTUP_CONVERGE_IN_PROGRESS: 2,
  });
});

test('/ links to every path, /discovery lists them', async () => {
  const server = await start();
  const page = (await ask(server, '/')).body;
  expect(page).toContain('<title>Addon-operator</title>');
  expect(page).toContain('<a href="/metrics/hooks">');
  expect((await ask(server, '/discovery')).body.split('\n')).toContain('GET /status/converge');
});

test.each(['/nothing', '/debug/pprof/', '/config/set', '/module/list.json', '/%2e%2e/etc/passwd'])(
  '%s is not there',
  async (path) => {
    expect(await ask(await start(), path)).toMatchObject({ status: 404, body: '404 page not found\n' });
  },
);

test('only GET and HEAD are served', async () => {
  const server = await start();
  expect(await ask(server, '/metrics', { method: 'POST', body: 'x' })).toMatchObject({ status: 405 });
  expect(await ask(server, '/metrics', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
});

test('a body that is too large is refused', async () => {
  const server = await start();
  expect(await ask(server, '/metrics', { method: 'POST', body: 'x'.repeat(70_000) })).toMatchObject({
    status: 413,
  });
});

test('a malformed path is refused', async () => {
  expect(await ask(await start(), '/%zz')).toMatchObject({ status: 400 });
});

test.each([
  ['two lengths', 'Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd'],
  ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['an unknown transfer coding', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
  ['a space before a colon', 'Content-Length : 4\r\n\r\nabcd'],
  ['a folded header', 'X-A: b\r\n c\r\nContent-Length: 1\r\n\r\na'],
])('a request with %s is refused and its connection closed', async (_what, rest) => {
  const server = await start();
  const socket = connect(server.port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => undefined);
  socket.once('close', () => resolve());
  socket.write(`POST /metrics HTTP/1.1\r\nHost: x\r\n${rest}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
  await promise;
  const responses = Buffer.concat(chunks)
    .toString('latin1')
    .match(/^HTTP\/1\.1 \d+/gm);
  expect(responses).toEqual(['HTTP/1.1 400']);
});

test('a failing part returns 500 without the reason', async () => {
  const server = await start({
    convergeStatus: () => {
      throw new Error('secret inside');
    },
  });
  expect(await ask(server, '/status/converge')).toMatchObject({ status: 500, body: '500 internal error\n' });
});

test('half-open connections do not keep others from a response', async () => {
  const server = await start();
  const sockets = Array.from({ length: 500 }, () => connect(server.port, '127.0.0.1'));
  await Promise.all(
    sockets.map(async (socket) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.on('error', () => undefined);
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n', () => resolve());
      await promise;
    }),
  );
  expect(await ask(server, '/healthz')).toMatchObject({ status: 200 });
  for (const socket of sockets) socket.destroy();
});

test('the signal of a request aborts when the client goes away', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  const server = await start({
    readiness: (signal) => {
      asked.resolve(signal);
      return new Promise(() => undefined);
    },
  });
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
  const signal = await asked.promise;
  const aborted = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => aborted.resolve(), { once: true });
  socket.destroy();
  await aborted.promise;
  expect(signal.aborted).toBe(true);
});

test('a port in use is named with its flags', async () => {
  const { port } = await start();
  await expect(start(undefined, port)).rejects.toMatchObject({
    code: 'HTTP_LISTEN',
    message: expect.stringContaining(`Cannot listen on 127.0.0.1:${port} (--prometheus-listen-address`),
  });
});
