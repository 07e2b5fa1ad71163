import { once } from 'node:events';
import { Agent, type RequestOptions, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { type SteadyClock, systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import {
  type CertifiedKey,
  createAuthority,
  issueCertificate,
} from '@addon-operator/crypto/x509-certificate';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../../test/support/control-plane/free-ports.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ConnectionForwarder, type HeldPorts } from './connection-forwarder.ts';
import { startWebhookServer, type WebhookHandler } from './tls-server.ts';
import { CertificateSlot } from './webhook-certificates.ts';

const HOUR_MS = 60 * 60 * 1_000;
const subject = (commonName: string) => ({
  commonName,
  notBeforeMs: Date.now() - HOUR_MS,
  notAfterMs: Date.now() + HOUR_MS,
});
const authority = createAuthority(subject('authority'));
const serving = () => {
  const issued = issueCertificate(authority, subject('server'), ['127.0.0.1']);
  return { ...issued, ca: authority.cert, expiresMs: Date.now() + HOUR_MS };
};

const hasOpenssl = (await execa('openssl', ['version'], { reject: false })).exitCode === 0;

async function selfSigned(): Promise<CertifiedKey> {
  const options = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=client';
  const { stdout } = await execa('openssl', ['req', ...options.split(' '), '-keyout', '-', '-out', '-']);
  const [key = '', cert = ''] = stdout.match(/-----BEGIN[^]*?-----END[^\n]*/g) ?? [];
  return { key, cert };
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly client?: CertifiedKey;
  /** Default: a connection for this request alone. */
  readonly agent?: Agent;
}

const MAX_BODY_BYTES = 4_096;

async function startLab(
  handler: WebhookHandler,
  clientCas: readonly string[] = [],
  held?: { readonly port: number; readonly ports: HeldPorts },
  clock: SteadyClock = systemClock,
  replicas?: Pick<HeldPorts, 'drained'>,
) {
  const certificates = new CertificateSlot(serving());
  const server = await startWebhookServer({
    address: '127.0.0.1',
    port: held?.port ?? 0,
    taken: held?.ports.take('127.0.0.1', held.port),
    replicas: replicas ?? held?.ports,
    certificates,
    clientCas,
    handler,
    maxBodyBytes: MAX_BODY_BYTES,
    clock,
    log: silentLogger,
  });
  onTestFinished(() => server.stop());
  const options: RequestOptions = { host: '127.0.0.1', port: server.port, ca: authority.cert, agent: false };
  const send = async ({
    method = 'POST',
    path = '/',
    headers = { 'content-type': 'application/json' },
    body = '{}',
    client,
    agent,
  }: Sent) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const outgoing = request(
      { ...options, method, path, headers, ...(agent && { agent }), ...client },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () =>
          resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(method === 'GET' ? undefined : body);
    return await promise;
  };
  return { certificates, server, send };
}

const echo: WebhookHandler = async ({ path, body }) => ({
  status: 200,
  type: 'json',
  body: `${path} ${body}`,
});

test('a server that stops finishes the requests that it is answering', async () => {
  const asked = Promise.withResolvers<void>();
  const response = Promise.withResolvers<void>();
  const { server, send } = await startLab(async (request, signal) => {
    asked.resolve();
    await response.promise;
    return await echo(request, signal);
  });
  const sent = send({ body: '{"a":1}' });
  await asked.promise;
  const stopped = server.stop();
  await expect(send({})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  response.resolve();
  expect(await sent).toMatchObject({ status: 200 });
  await stopped;
});

test('a server that stops drops requests after five seconds', async () => {
  const clock = new FakeClock();
  const asked = Promise.withResolvers<AbortSignal>();
  const never: WebhookHandler = (_request, signal) => {
    asked.resolve(signal);
    return new Promise(() => undefined);
  };
  const { server, send } = await startLab(never, [], undefined, clock);
  const sent = send({}).catch((error: unknown) => error);
  const gone = once(await asked.promise, 'abort');
  const stopped = server.stop();
  await clock.untilAsleep();
  await clock.advance(5_000);
  await stopped;
  await gone;
  expect(await sent).toMatchObject({ code: 'ECONNRESET' });
});

test('a port that a standby has held is taken over, with the requests that wait', async () => {
  const [port = 0] = await freePorts(1);
  const forwarder = await ConnectionForwarder.start({
    ports: [{ address: '127.0.0.1', port, targetPort: port }],
    target: () => undefined,
    clock: systemClock,
    log: silentLogger,
  });
  onTestFinished(() => forwarder.stop());
  const socket = connectTcp({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const early = connect({ socket, ca: authority.cert, host: '127.0.0.1' });
  early.end('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  // It is accepted before what comes after it.
  const last = connectTcp({ port, host: '127.0.0.1' });
  await once(last, 'connect');
  const { server, send } = await startLab(echo, [], { port, ports: forwarder });
  expect(await text(early)).toMatch(/^HTTP\/1\.1 200 /);
  last.destroy();
  expect(await send({ body: '{"late":1}' })).toMatchObject({ status: 200 });
  await server.stop();
  await expect(send({})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('where other replicas take over, clients leave connections after 3 seconds', async () => {
  const clock = new FakeClock();
  const replicas = { drained: async () => undefined };
  const { server, send } = await startLab(echo, [], undefined, clock, replicas);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.cert });
  onTestFinished(() => agent.destroy());
  const open = () => Object.values(agent.freeSockets).flat().length;
  await send({ agent });
  await expect.poll(open, { timeout: 60_000 }).toBe(1);
  await clock.advance(3_000);
  await send({ agent });
  await expect.poll(open, { timeout: 60_000 }).toBe(1);
  await clock.advance(1);
  await send({ agent });
  await expect.poll(open, { timeout: 60_000 }).toBe(0);
  await server.stop();
});

test('a server that stops accepts requests until clients do not connect any more', async () => {
  const drained = Promise.withResolvers<void>();
  const replicas = { drained: async () => await drained.promise };
  const { server, send } = await startLab(echo, [], undefined, systemClock, replicas);
  const stopped = server.stop();
  expect(await send({})).toMatchObject({ status: 200 });
  drained.resolve();
  await stopped;
  await expect(send({})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a POST with JSON reaches the handler, the path without its query', async () => {
  const { send } = await startLab(echo);
  expect(await send({ path: '/hooks/a?timeout=10s', body: '{"a":1}' })).toEqual({
    status: 200,
    text: '/hooks/a {"a":1}',
  });
  const type = 'Application/JSON; charset=utf-8';
  expect(await send({ headers: { 'content-type': type } })).toMatchObject({ status: 200 });
});

test('the span of the client reaches the handler', async () => {
  const { send } = await startLab(async ({ traceparent }) => ({
    status: 200,
    type: 'text',
    body: String(traceparent),
  }));
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  expect(await send({ headers: { 'content-type': 'application/json', traceparent } })).toMatchObject({
    text: traceparent,
  });
  expect(await send({})).toMatchObject({ text: 'undefined' });
});

test('the time for which the API server waits reaches the handler', async () => {
  const { send } = await startLab(async ({ timeoutMs }) => ({
    status: 200,
    type: 'json',
    body: String(timeoutMs),
  }));
  const timeouts = ['?timeout=10s', '?a=b&timeout=1.5s', '?timeout=-1s', '?timeout=soon', ''];
  const responses = await Promise.all(timeouts.map((query) => send({ path: `/hooks/a${query}` })));
  expect(responses.map(({ text }) => text)).toEqual(['10000', '1500', 'undefined', 'undefined', 'undefined']);
});

test('health requests get a response, everything else is refused', async () => {
  const { send } = await startLab(echo);
  expect(await send({ method: 'GET', path: '/healthz' })).toEqual({ status: 200, text: '' });
  expect(await send({ method: 'GET', path: '/hooks/a' })).toMatchObject({ status: 405 });
  expect(await send({ headers: { 'content-type': 'text/plain' } })).toMatchObject({ status: 415 });
  expect(await send({ headers: {} })).toMatchObject({ status: 415 });
  const gzip = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  expect(await send({ headers: gzip })).toMatchObject({ status: 415 });
});

test('a body of the limit is read, a longer one refused with the limit', async () => {
  const { send } = await startLab(async ({ body }) => ({
    status: 200,
    type: 'json',
    body: String(body.length),
  }));
  const ofBytes = (count: number) => send({ body: Buffer.alloc(count, 'x') });
  expect(await ofBytes(MAX_BODY_BYTES)).toEqual({ status: 200, text: String(MAX_BODY_BYTES) });
  expect(await ofBytes(MAX_BODY_BYTES + 1)).toEqual({
    status: 413,
    text: `request body is larger than ${MAX_BODY_BYTES} bytes\n`,
  });
});

test('a body beyond the limit is refused before it is read', async () => {
  const { send } = await startLab(echo);
  const headers = { 'content-type': 'application/json', 'content-length': String(100 * 1024 * 1024) };
  expect(await send({ headers, body: Buffer.alloc(1024) })).toMatchObject({ status: 413 });
});

test('what the handler throws is an internal error', async () => {
  const { send } = await startLab(() => Promise.reject(new Error('broken')));
  expect(await send({})).toEqual({ status: 500, text: 'internal error\n' });
});

test('the signal aborts when the client goes away', async () => {
  const aborted = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const { server } = await startLab(async (_request, signal) => {
    signal.addEventListener('abort', () => aborted.resolve('aborted'), { once: true });
    begun.resolve();
    return Promise.withResolvers<never>().promise;
  });
  const outgoing = request({
    host: '127.0.0.1',
    port: server.port,
    ca: authority.cert,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    agent: false,
  });
  outgoing.on('error', () => undefined);
  outgoing.end('{}');
  await begun.promise;
  outgoing.destroy();
  expect(await aborted.promise).toBe('aborted');
});

test('a new certificate is shown to the next client without a restart', async () => {
  const { certificates, server } = await startLab(echo);
  const serialNumber = async (): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket: TLSSocket = connect({ host: '127.0.0.1', port: server.port, ca: authority.cert }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on('error', reject);
    return await promise;
  };
  const before = await serialNumber();
  expect(await serialNumber()).toBe(before);
  expect(certificates.replace(serving())).toBe(true);
  expect(await serialNumber()).not.toBe(before);
});

test.skipIf(!hasOpenssl)('with client authorities only their clients are served', async () => {
  const client = await selfSigned();
  const { send } = await startLab(echo, [client.cert]);
  await expect(send({})).rejects.toThrow(/hang up|ECONNRESET|alert/);
  await expect(send({ client: await selfSigned() })).rejects.toThrow(/hang up|ECONNRESET|alert/);
  expect(await send({ client })).toMatchObject({ status: 200 });
});

test('clients that say nothing keep no other client from being served', async () => {
  const { server, send } = await startLab(echo);
  const silent = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const socket = connectTcp(server.port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    }),
  );
  onTestFinished(() => {
    for (const socket of silent) socket.destroy();
  });
  expect(await send({})).toMatchObject({ status: 200 });
});

test('stop() drops connections at once, also those without a handshake or a request', async () => {
  const { server } = await startLab(echo);
  const bare = connectTcp(server.port, '127.0.0.1');
  const idle = connect({ host: '127.0.0.1', port: server.port, ca: authority.cert });
  await Promise.all([once(bare, 'connect'), once(idle, 'secureConnect')]);
  const dropped = Promise.all(
    [bare, idle].map(async (socket) => {
      socket.on('error', () => undefined);
      socket.resume();
      await once(socket, 'close');
    }),
  );
  await server.stop();
  await dropped;
  expect([bare.destroyed, idle.destroyed]).toEqual([true, true]);
});

test('a port in use is an error that says so', async () => {
  const { server } = await startLab(echo);
  const again = startWebhookServer({
    address: '127.0.0.1',
    port: server.port,
    certificates: new CertificateSlot(serving()),
    maxBodyBytes: MAX_BODY_BYTES,
    handler: echo,
    clock: systemClock,
    log: silentLogger,
  });
  await expect(again).rejects.toMatchObject({ code: 'HTTP_LISTEN' });
});
