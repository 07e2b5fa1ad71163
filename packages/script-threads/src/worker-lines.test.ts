import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { messageLine, type WorkerReply } from './host-protocol.ts';
import { WorkerLines } from './worker-lines.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function lab(): Promise<{
  readonly lines: WorkerLines;
  readonly socket: Socket;
  readonly token: string;
  readonly replies: (readonly [number, WorkerReply])[];
  readonly closed: Promise<number>;
}> {
  const replies: (readonly [number, WorkerReply])[] = [];
  const closed = Promise.withResolvers<number>();
  const lines = new WorkerLines({
    onReply: (worker, reply) => replies.push([worker, reply]),
    onClosed: closed.resolve,
  });
  if (lines.address === undefined) throw new Error('lines exist on Linux only');
  const socket = connect(lines.address.path);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  open.push(
    () => lines.close(),
    () => socket.destroy(),
  );
  return { lines, socket, token: lines.address.token, replies, closed: closed.promise };
}

test('a worker that knows the token has a line both ways, until it is closed', async () => {
  const { lines, socket, token, replies, closed } = await lab();
  const reply: WorkerReply = { type: 'ready', description: '{}' };
  socket.write(messageLine({ worker: 7, token }) + messageLine(reply));
  while (!lines.has(7)) await new Promise(setImmediate);
  expect(replies).toEqual([[7, reply]]);
  lines.send(7, { type: 'abort', worker: 7 });
  const [received] = await once(socket.setEncoding('utf8'), 'data');
  expect(JSON.parse(String(received))).toEqual({ type: 'abort', worker: 7 });
  socket.end();
  expect([await closed, lines.has(7)]).toEqual([7, false]);
});

test.each([
  ['has another token', messageLine({ worker: 7, token: 'guessed' })],
  ['has no number', messageLine({ token: 'guessed' })],
  ['sends no JSON', 'GET / HTTP/1.1\r\n\r\n'],
  ['sends without end', 'x'.repeat(2_000)],
])('whoever %s is turned away', async (_case, text) => {
  const { lines, socket, replies } = await lab();
  socket.write(text);
  socket.resume();
  await once(socket, 'close');
  expect([replies, lines.has(7)]).toEqual([[], false]);
});
