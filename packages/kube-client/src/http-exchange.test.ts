import { getEventListeners } from 'node:events';
import { Agent } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { responseJson, startLoopbackServer } from '../../../test/support/loopback-server.ts';
import { NotSentError, readBody, readLines, sendRequest } from './http-exchange.ts';

const LIMIT = { clock: new FakeClock(), connectTimeoutMs: 10_000 };
const never = new AbortController().signal;

/** Opens connections when they are released. */
class HeldAgent extends Agent {
  readonly released = Promise.withResolvers<void>();
  readonly asked = Promise.withResolvers<void>();
  readonly opened: Socket[] = [];

  override createConnection(
    options: { readonly port?: number | string | null },
    done?: (error: Error | null, socket: Socket) => void,
  ): undefined {
    this.asked.resolve();
    void this.#connectLater(Number(options.port), done);
  }

  async #connectLater(port: number, done?: (error: Error | null, socket: Socket) => void): Promise<void> {
    await this.released.promise;
    const socket = connect(port, '127.0.0.1');
    this.opened.push(socket);
    done?.(null, socket);
  }
}

test('sendRequest() sends nothing, when beforeSend refuses after the connection was requested', async () => {
  const server = await startLoopbackServer((_, response) => responseJson(response, 200, {}));
  const agent = new HeldAgent();
  const refusal = new Error('not the leader any more');
  let isLeader = true;
  const beforeSend = (): void => {
    if (!isLeader) throw refusal;
  };
  const request = { url: new URL(server.url), method: 'PUT', headers: {}, body: '{}', agent, beforeSend };
  const sent = sendRequest(request, LIMIT, never).catch((error: unknown) => error);
  await agent.asked.promise;
  isLeader = false;
  agent.released.resolve();
  const error = await sent;
  expect(error).toBeInstanceOf(NotSentError);
  expect(error).toMatchObject({ cause: refusal });
  expect(server.requests).toEqual([]);
  await server.stop();
});

test('sendRequest() sends a stream, and rejects with the error of one that fails', async () => {
  const server = await startLoopbackServer((_, response) => responseJson(response, 200, {}));
  const agent = new Agent();
  const requestOf = (body: Readable) => ({
    url: new URL(server.url),
    method: 'PUT',
    headers: {},
    body,
    agent,
  });
  const response = await sendRequest(requestOf(Readable.from(['a', 'b'])), LIMIT, never);
  response.resume();
  expect(server.requests).toMatchObject([{ method: 'PUT', body: 'ab' }]);
  const failure = new Error('the file is gone');
  const failing = new Readable({ read: () => failing.destroy(failure) });
  await expect(sendRequest(requestOf(failing), LIMIT, never)).rejects.toBe(failure);
  await server.stop();
});

test('sendRequest() calls beforeSend once, when the connection is open', async () => {
  const server = await startLoopbackServer((_, response) => responseJson(response, 200, {}));
  const agent = new HeldAgent();
  const states: (string | undefined)[] = [];
  const beforeSend = (): void => {
    states.push(agent.opened[0]?.readyState);
  };
  agent.released.resolve();
  const request = { url: new URL(server.url), method: 'PUT', headers: {}, body: '{}', agent, beforeSend };
  const response = await sendRequest(request, LIMIT, never);
  response.resume();
  expect(states).toEqual(['open']);
  expect(server.requests).toMatchObject([{ method: 'PUT', body: '{}' }]);
  await server.stop();
});

test('sendRequest() rejects, when the server refuses the connection of a request with beforeSend', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const beforeSend = (): void => {
    throw new Error('there is no connection to send on');
  };
  const url = new URL(`http://127.0.0.1:${port}`);
  const request = { url, method: 'PUT', headers: {}, body: '{}', agent: new Agent(), beforeSend };
  await expect(sendRequest(request, LIMIT, never)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('sendRequest() leaves no listener behind on the signal of a daemon, whatever becomes of its requests', async () => {
  const server = await startLoopbackServer(({ path }, response) => {
    if (path === '/cut') response.destroy();
    else responseJson(response, 200, {});
  });
  const { signal } = new AbortController();
  const agent = new Agent({ keepAlive: true });
  const send = (url: string) =>
    sendRequest({ url: new URL(url), method: 'GET', headers: {}, body: undefined, agent }, LIMIT, signal);
  for (let index = 0; index < 3; index += 1) await readBody(await send(server.url), signal);
  await expect(send(`${server.url}/cut`)).rejects.toThrow('socket hang up');
  await server.stop();
  await expect(send(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await settle();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  agent.destroy();
});

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function collect(bytes: Buffer, size: number): Promise<string[]> {
  const lines: string[] = [];
  try {
    for await (const line of readLines(chunked(bytes, size))) lines.push(line);
  } catch (error) {
    lines.push(error instanceof Error ? error.constructor.name : 'unknown');
  }
  return lines;
}

const text = '{"a":"grüße 🎈 \u2028"}\n\n{"b":1}\r\n{"c":""}\n';

test('readLines() gives whole lines wherever the chunks are cut, characters included', async () => {
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    expect(await collect(bytes, size)).toEqual(['{"a":"grüße 🎈 \u2028"}', '{"b":1}\r', '{"c":""}']);
  }
});

test('readLines() never delivers a piece of a line, when the stream is cut at any byte', async () => {
  const bytes = Buffer.from('first\n{"a":"grüße 🎈"}\n');
  for (let length = 7; length < bytes.length; length += 1) {
    expect(await collect(bytes.subarray(0, length), 5)).toEqual(['first', 'TruncatedLineError']);
  }
});

test('readLines() refuses bytes that are no UTF-8', async () => {
  expect(await collect(Buffer.from([0x61, 0x0a, 0xff, 0x0a]), 2)).toEqual(['a', 'TypeError']);
});
