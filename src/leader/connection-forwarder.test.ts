import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { silentLogger } from '@addon-operator/base/log';
import { afterEach, expect, test } from 'vitest';
import { freePorts } from '../../test/support/control-plane/free-ports.ts';
import { type ConnectionForwarder, forwardConnections } from './connection-forwarder.ts';

const servers: Server[] = [];
const forwarders: ConnectionForwarder[] = [];

afterEach(async () => {
  for (const forwarder of forwarders.splice(0)) await forwarder.stop();
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers with what it got, once the client has said all; returns its port. */
async function echo(): Promise<number> {
  const [port = 0] = await freePorts(1);
  const server = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket));
  servers.push(server);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return port;
}

async function forward(targetPort: number, target: () => string | undefined): Promise<number> {
  const [port = 0] = await freePorts(1);
  forwarders.push(
    await forwardConnections([{ address: '127.0.0.1', port, targetPort }], target, silentLogger),
  );
  return port;
}

/** Says something to a port, and returns the answer. */
async function say(port: number, message: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.end(message);
  return await text(socket);
}

test('bytes go both ways, in as many connections as there are', async () => {
  const port = await forward(await echo(), () => '127.0.0.1');
  const messages = ['one', 'two', 'x'.repeat(1_000_000)];
  expect(await Promise.all(messages.map((message) => say(port, message)))).toEqual(messages);
});

test('without a target, and when it refuses, a connection is closed', async () => {
  const nowhere = await forward(await echo(), () => undefined);
  await expect(say(nowhere, 'hello').catch(() => 'reset')).resolves.toMatch(/^(reset)?$/);
  const [closed = 0] = await freePorts(1);
  const refusing = await forward(closed, () => '127.0.0.1');
  await expect(say(refusing, 'hello').catch(() => 'reset')).resolves.toMatch(/^(reset)?$/);
});

test('stop() drops connections and frees the port', async () => {
  const target = await echo();
  const port = await forward(target, () => '127.0.0.1');
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write('hello');
  await once(socket, 'data');
  const closed = once(socket, 'close');
  await forwarders[0]?.stop();
  await closed;
  const again = createServer();
  servers.push(again);
  again.listen(port, '127.0.0.1');
  await once(again, 'listening');
  expect(again.listening).toBe(true);
});

test('a port in use is left out, the others are forwarded', async () => {
  const target = await echo();
  const [port = 0] = await freePorts(1);
  const ports = [
    { address: '127.0.0.1', port: target, targetPort: target },
    { address: '127.0.0.1', port, targetPort: target },
  ];
  forwarders.push(await forwardConnections(ports, () => '127.0.0.1', silentLogger));
  expect(await say(port, 'hello')).toBe('hello');
});
