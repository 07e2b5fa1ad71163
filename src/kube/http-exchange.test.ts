import { Agent } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { answerJson, startLoopbackServer } from '../../test/support/loopback-server.ts';
import { NotSentError, sendRequest } from './http-exchange.ts';

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

test('sendRequest() sends nothing, when beforeSend refuses only after the connection was asked for', async () => {
  const server = await startLoopbackServer((_, response) => answerJson(response, 200, {}));
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

test('sendRequest() calls beforeSend once, when the connection is open', async () => {
  const server = await startLoopbackServer((_, response) => answerJson(response, 200, {}));
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
