import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type Clock, systemClock } from '@addon-operator/base/clock';
import { afterEach, expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { rejection } from '../../../test/support/rejection.ts';
import { AllowedHosts } from '../../hooks/http/allowed-hosts.ts';
import { readReconcileWebhook } from '../../modules/reconcile-webhook.ts';
import { type CallResult, callWebhook } from './call-webhook.ts';
import { readResponse } from './webhook-response.ts';

const never = new AbortController().signal;
const servers: Server[] = [];
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers.splice(0)) server.close();
});

/** A server that does this as soon as something has arrived on a connection. Gives its URL. */
async function listen(reply: (socket: Socket) => void, host = '127.0.0.1'): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => reply(socket));
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function ask(uri: string, clock: Clock = systemClock, signal = never): Promise<CallResult> {
  const hook = readReconcileWebhook(
    { version: 'v1', address: { uri }, timeout: 'PT5S', capabilities: ['finalize'] },
    [],
  );
  if (hook === undefined) throw new Error('the hook is invalid');
  const deps = {
    kube: { request: () => Promise.reject(new Error('there is no cluster')) },
    find: () => Promise.reject(new Error('there is no cluster')),
    namespace: 'ns',
    clock,
    version: '1',
    check: () => undefined,
    hosts: new AllowedHosts({ entries: ['localhost', '127.0.0.1', '::1'] }),
  };
  return await callWebhook(deps, hook, { title: 'Test', body: '{}' }, signal);
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n';

test.each([
  ['nothing', ''],
  ['half of its headers', HEAD],
  ['a part of its body', `${HEAD}\r\n{"object":`],
  ['a part of the body of a failure', 'HTTP/1.1 500 No\r\nContent-Length: 9999\r\n\r\n{"message":'],
  ['that it is at work', 'HTTP/1.1 102 Processing\r\n\r\n'],
])(
  'callWebhook() fails for a server that sends %s and then one byte now and then',
  async (_what, beginning) => {
    const clock = new FakeClock();
    const arrived = Promise.withResolvers<Socket>();
    const uri = await listen((socket) => {
      socket.write(beginning);
      arrived.resolve(socket);
    });
    const reported = rejection(ask(uri, clock));
    const socket = await arrived.promise;
    const closed = new Promise((resolve) => {
      socket.once('close', resolve);
    });
    for (let seconds = 0; seconds < 5; seconds += 1) {
      if (beginning.includes('{')) socket.write(' ');
      await clock.advance(1_000);
    }
    expect(await reported).toBe(`Test got no response within 5 s: POST ${uri}/`);
    await closed;
  },
);

test.each([
  ['nothing', ''],
  ['a part of its body', `${HEAD}\r\n{"object":`],
])('callWebhook() closes the connection on abort when a server has sent %s', async (_what, beginning) => {
  const stop = new AbortController();
  const closed = Promise.withResolvers<void>();
  const uri = await listen((socket) => {
    socket.once('close', () => closed.resolve());
    socket.write(beginning, () => stop.abort(new Error('stopping')));
  });
  await expect(ask(uri, new FakeClock(), stop.signal)).rejects.toThrow('stopping');
  await closed.promise;
});

test.each([
  [
    'switches protocols',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    'the connection was closed without a response',
  ],
  ['has huge headers', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`, 'Header overflow'],
  ['speaks another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', 'Parse Error'],
  ['breaks off in its answer', `${HEAD}\r\n{`, 'the connection was closed before the response was complete'],
  [
    'breaks off in a chunk',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{',
    'the connection was closed before the response was complete',
  ],
  [
    'answers compressed',
    'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n.',
    'the response has the encoding gzip, which was not requested',
  ],
])('callWebhook() fails for a server that %s', async (_what, reply, message) => {
  const uri = await listen((socket) => socket.end(reply));
  await expect(ask(uri)).rejects.toMatchObject({
    code: 'HOOK_FAILED',
    message: expect.stringContaining(message),
  });
});

test('callWebhook() returns redirects and does not follow them', async () => {
  let elsewhere = 0;
  const other = await listen(() => {
    elsewhere += 1;
  });
  const uri = await listen((socket) =>
    socket.end(`HTTP/1.1 308 Moved\r\nLocation: ${other}/\r\nContent-Length: 0\r\n\r\n`),
  );
  expect(await ask(uri)).toMatchObject({ response: { status: 308, location: `${other}/` } });
  expect(elsewhere).toBe(0);
});

test('callWebhook() calls servers by an IPv6 address', async () => {
  const uri = await listen((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'), '::1');
  expect(await ask(`${uri}/v1`)).toMatchObject({ response: { status: 204 }, from: `${uri}/v1` });
});

test('a failure of several MB is read as a whole, so that permanent and continue count', async () => {
  const body = JSON.stringify({ message: 'x'.repeat(3_000_000), permanent: true, continue: true });
  const uri = await listen((socket) => {
    socket.end(`HTTP/1.1 500 No\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  const { response } = await ask(uri);
  const question = { phase: 'finalize', object: { metadata: { name: 'web' } }, namespace: 'ns' } as const;
  expect(readResponse(response, question)).toMatchObject({
    type: 'refusal',
    isPermanent: true,
    isContinued: true,
  });
});
