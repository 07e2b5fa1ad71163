import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const ROWS = 500;

/** A server with the least that a browser can be shown: a table that is there at once, and events that become a text. */
export interface BarePage extends AsyncDisposable {
  readonly url: string;
  /** Sends the present time to every page that follows. */
  send(): void;
}

export async function startBarePage(): Promise<BarePage> {
  const followers = new Set<ServerResponse>();
  const rows = Array.from({ length: ROWS }, (_, index) => `<tr><th>module ${index}</th><td>ready</td></tr>`);
  const html = `<!doctype html><title>reference</title><main><table><tbody>${rows.join('')}</tbody></table><p></p></main>
<script>new EventSource('events').onmessage = ({ data }) => { document.querySelector('p').textContent = data; };</script>`;
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/events') !== true) {
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    followers.add(response);
    response.once('close', () => followers.delete(response));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    send: () => {
      for (const follower of followers) follower.write(`data: ${Date.now()}\n\n`);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<unknown>((resolve) => {
        server.close(resolve);
      });
    },
  };
}
