import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { silentLogger } from '@addon-operator/base/log';
import { afterEach, expect, test, vi } from 'vitest';
import { freePorts } from '../../../test/support/control-plane/free-ports.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ConnectionForwarder } from './connection-forwarder.ts';

const servers: Server[] = [];
const forwarders: ConnectionForwarder[] = [];

afterEach(async () => {
  for (const forwarder of forwarders.splice(0)) await forwarder.stop();
  for (const server of servers.splice(0)) server.close();
});

/** A server that responds with what it got, once the client has said all; returns its port. */
async function echo(given?: number): Promise<number> {
  const [free = 0] = await freePorts(1);
  const port = given ?? free;
  const server = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket));
  servers.push(server);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return port;
}

interface Forwarding {
  readonly port: number;
  readonly clock: FakeClock;
  readonly forwarder: ConnectionForwarder;
}

async function forward(targetPort: number, target: () => string | undefined): Promise<Forwarding> {
  const [port = 0] = await freePorts(1);
  const clock = new FakeClock();
  const ports = [{ address: '127.0.0.1', port, targetPort }];
  const forwarder = await ConnectionForwarder.start({ ports, target, clock, log: silentLogger });
  forwarders.push(forwarder);
  return { port, clock, forwarder };
}

/** Says something to a port, and returns the response. */
async function say(port: number, message: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.end(message);
  return await text(socket);
}

/** A server whose requests the test answers. */
async function questioned() {
  const asked: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => asked.push(socket));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  /** The connection of the next request. */
  const next = async (): Promise<Socket> => {
    await vi.waitFor(() => expect(asked).not.toEqual([]), 10_000);
    return asked.shift() as Socket;
  };
  return { port: (server.address() as AddressInfo).port, next };
}

/** Until a connection waits for its next attempt, rather than for the end of one. */
const untilWaiting = (clock: FakeClock): Promise<void> =>
  vi.waitFor(() => expect(clock.pendingDelaysMs).toEqual([100]), 60_000);

test('bytes go both ways, in as many connections as there are', async () => {
  const { port } = await forward(await echo(), () => '127.0.0.1');
  const messages = ['one', 'two', 'x'.repeat(1_000_000)];
  expect(await Promise.all(messages.map((message) => say(port, message)))).toEqual(messages);
});

test('a connection waits until there is a target', async () => {
  let host: string | undefined;
  const { port, clock } = await forward(await echo(), () => host);
  const response = say(port, 'hello');
  await untilWaiting(clock);
  await clock.advance(29_000);
  await untilWaiting(clock);
  host = '127.0.0.1';
  await clock.advance(100);
  expect(await response).toBe('hello');
});

test('a connection waits until the target can be reached', async () => {
  const [targetPort = 0] = await freePorts(1);
  const { port, clock } = await forward(targetPort, () => '127.0.0.1');
  const response = say(port, 'hello');
  await untilWaiting(clock);
  await echo(targetPort);
  await clock.advance(100);
  expect(await response).toBe('hello');
});

test('bytes sent to a host that went away without a response are sent to the next', async () => {
  const deaf = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once('data', () => socket.resetAndDestroy());
  });
  servers.push(deaf);
  const [targetPort = 0] = await freePorts(1);
  deaf.listen(targetPort, '127.0.0.1');
  await once(deaf, 'listening');
  const { port, clock } = await forward(targetPort, () => '127.0.0.1');
  const response = say(port, 'hello');
  await untilWaiting(clock);
  deaf.close();
  await once(deaf, 'close');
  await echo(targetPort);
  await clock.advance(100);
  expect(await response).toBe('hello');
});

test('after 30 seconds without a target a connection is closed', async () => {
  const { port, clock } = await forward(await echo(), () => undefined);
  const response = say(port, 'hello').catch(() => 'reset');
  await untilWaiting(clock);
  await clock.advance(30_000);
  expect(await response).toMatch(/^(reset)?$/);
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('a server of this process takes the port over, with what waits', async () => {
  const { port, clock, forwarder } = await forward(await echo(), () => '127.0.0.1');
  forwarder.hold();
  const early = say(port, 'early');
  await untilWaiting(clock);
  const own = createServer({ allowHalfOpen: true }, (socket) => {
    socket.write('own ');
    socket.pipe(socket);
  });
  servers.push(own);
  const taken = forwarder.take('127.0.0.1', port);
  own.listen(taken?.handle);
  for (const socket of taken?.waiting ?? []) own.emit('connection', socket);
  expect(await early).toBe('own early');
  expect(await say(port, 'late')).toBe('own late');
  await forwarder.stop();
  expect(await say(port, 'after')).toBe('own after');
  expect(forwarder.take('127.0.0.1', port)).toBeUndefined();
});

test('a server of this process gets all bytes sent to a host that has not responded, and is the only one that responds', async () => {
  const { port: targetPort, next } = await questioned();
  const { port, forwarder } = await forward(targetPort, () => '127.0.0.1');
  const client = connect({ port, host: '127.0.0.1' });
  client.write('hello');
  const reported = await next();
  const own = createServer((socket) => {
    socket.write('own ');
    socket.pipe(socket);
  });
  servers.push(own);
  forwarder.hold();
  const taken = forwarder.take('127.0.0.1', port);
  own.listen(taken?.handle);
  const isForgotten = new Promise((resolve) => reported.once('close', resolve));
  for (const socket of taken?.waiting ?? []) own.emit('connection', socket);
  reported.end('other answer');
  await isForgotten;
  client.end(' and more');
  expect(await text(client)).toBe('own hello and more');
});

test('stop() drops connections, also those that wait, and frees the port', async () => {
  let host: string | undefined = '127.0.0.1';
  const { port, clock, forwarder } = await forward(await echo(), () => host);
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write('hello');
  await once(socket, 'data');
  host = undefined;
  const waiting = say(port, 'hello').catch(() => 'reset');
  await untilWaiting(clock);
  const closed = once(socket, 'close');
  const stopped = forwarder.stop();
  await clock.advance(50);
  await stopped;
  await closed;
  expect(await waiting).toMatch(/^(reset)?$/);
  const again = createServer();
  servers.push(again);
  again.listen(port, '127.0.0.1');
  await once(again, 'listening');
  expect(again.listening).toBe(true);
});

test('stop() waits for the response to a forwarded request, and drops it after 5 seconds', async () => {
  const { port: targetPort, next } = await questioned();
  const { port, clock, forwarder } = await forward(targetPort, () => '127.0.0.1');
  const responded = connect({ port, host: '127.0.0.1' });
  const forgotten = connect({ port, host: '127.0.0.1' });
  forgotten.on('error', () => undefined);
  for (const socket of [responded, forgotten]) {
    socket.write('first');
    (await next()).write('one');
    expect(await once(socket, 'data')).toEqual([Buffer.from('one')]);
  }
  responded.write('second');
  const second = await next();
  forgotten.write('third');
  await next();
  const stopped = forwarder.stop();
  const refused = connect({ port, host: '127.0.0.1' });
  await once(refused, 'error');
  second.write('two');
  expect(await once(responded, 'data')).toEqual([Buffer.from('two')]);
  const closed = Promise.all([once(responded, 'close'), once(forgotten, 'close')]);
  for (let ms = 0; ms < 5_000; ms += 50) {
    await clock.untilAsleep();
    await clock.advance(50);
  }
  await stopped;
  await closed;
});

test('a port in use is left out, the others are forwarded', async () => {
  const target = await echo();
  const [port = 0] = await freePorts(1);
  const ports = [
    { address: '127.0.0.1', port: target, targetPort: target },
    { address: '127.0.0.1', port, targetPort: target },
  ];
  const options = { ports, target: () => '127.0.0.1', clock: new FakeClock(), log: silentLogger };
  forwarders.push(await ConnectionForwarder.start(options));
  expect(await say(port, 'hello')).toBe('hello');
});

test('stop() accepts connections until clients do not connect any more', async () => {
  const target = await echo();
  const [port = 0] = await freePorts(1);
  const drained = Promise.withResolvers<void>();
  const forwarder = await ConnectionForwarder.start({
    ports: [{ address: '127.0.0.1', port, targetPort: target }],
    target: () => '127.0.0.1',
    drained: () => drained.promise,
    clock: new FakeClock(),
    log: silentLogger,
  });
  forwarders.push(forwarder);
  const stopped = forwarder.stop();
  expect(await say(port, 'late')).toBe('late');
  drained.resolve();
  await stopped;
  const refused = connect({ port, host: '127.0.0.1' });
  expect(await once(refused, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
});
