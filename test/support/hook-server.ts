import type { ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { type ReceivedRequest, responseJson, startLoopbackServer } from './loopback-server.ts';

/** What an HTTP hook is sent. */
export interface HookRequest {
  readonly runId: string;
  readonly hook: string;
  readonly module?: string;
  readonly contexts: readonly Readonly<Record<string, unknown>>[];
  readonly values: unknown;
  readonly configValues: unknown;
}

/** A response is sent as JSON; a function that responds itself returns `answered`. */
export type HookResponse = (
  body: HookRequest,
  request: ReceivedRequest,
  response: ServerResponse,
) => object | 'answered';

/** A server of HTTP hooks on a free loopback port; its user may change how it answers. */
export async function startHookServer(reply: HookResponse, tls?: ServerOptions) {
  const bodies: HookRequest[] = [];
  const state = { reply };
  const server = await startLoopbackServer((request, response) => {
    const body = JSON.parse(request.body) as HookRequest;
    bodies.push(body);
    const result = state.reply(body, request, response);
    if (result !== 'answered') responseJson(response, 200, result);
  }, tls);
  return {
    url: server.url,
    bodies,
    requests: server.requests,
    stop: () => server.stop(),
    responseWith: (next: HookResponse) => {
      state.reply = next;
    },
    /** The values of one header in all requests, in order. */
    headers: (name: string) => server.requests.map(({ headers }) => headers[name]),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Answers with 1 GB, of which only a chunk is ever in memory here. */
export const sendGigabyte: HookResponse = (_body, _request, response) => {
  const chunk = Buffer.alloc(1024 * 1024, 0x20);
  let left = 1024;
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = (): void => {
    while (left > 0 && !response.destroyed && response.write(chunk)) left -= 1;
    if (left === 0) response.end();
  };
  response.on('drain', more);
  more();
  return 'answered';
};

/** Answers with a text, whatever it was sent. */
export function sendText(status: number, type: string, text: string, headers = {}): HookResponse {
  return (_body, _request, response) => {
    response.writeHead(status, { 'content-type': type, ...headers }).end(text);
    return 'answered';
  };
}
