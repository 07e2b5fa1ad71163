import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { type ApiRequest, type ApiResponse, jsonResponse, textResponse } from './api-request.ts';
import { silentLog } from './sandbox-log.ts';
import { type HttpServer, startHttpServer } from './sandbox-server.ts';

let server: HttpServer | undefined;

afterEach(() => server?.stop());

async function serve(handle: (request: ApiRequest) => ApiResponse): Promise<string> {
  server = await startHttpServer(0, handle, silentLog);
  return `http://127.0.0.1:${server.port}`;
}

test('hands over method, path, query, headers and body', async () => {
  const requests: ApiRequest[] = [];
  const url = await serve((incoming) => {
    requests.push(incoming);
    return textResponse(200, 'ok');
  });
  await fetch(`${url}/a%2Fb?x=1&x=2`, {
    method: 'PATCH',
    headers: { accept: 'a/b', 'content-type': 'c/d', 'user-agent': 'e', 'if-none-match': 'f' },
    body: 'text',
  });
  expect(requests).toEqual([
    {
      method: 'PATCH',
      path: '/a%2Fb',
      query: new URLSearchParams('x=1&x=2'),
      accept: 'a/b',
      contentType: 'c/d',
      userAgent: 'e',
      ifNoneMatch: 'f',
      body: Buffer.from('text'),
    },
  ]);
});

test('sends status, headers, warnings and body', async () => {
  const url = await serve(() =>
    jsonResponse(201, { a: 'ä' }, { headers: { ETag: '"x"' }, warnings: ['one', 'two "2"'] }),
  );
  const response = await fetch(url);
  expect(response.status).toBe(201);
  expect(response.headers.get('etag')).toBe('"x"');
  expect(response.headers.get('warning')).toBe('299 - "one", 299 - "two \\"2\\""');
  expect(await response.json()).toEqual({ a: 'ä' });
});

test('sends 304 without body', async () => {
  const url = await serve(() => ({ ...jsonResponse(304, {}), text: '' }));
  const response = await fetch(url);
  expect([response.status, await response.text()]).toEqual([304, '']);
});

test('sends the headers of a stream before its first event', async () => {
  const first = Promise.withResolvers<void>();
  const url = await serve(() => ({
    type: 'stream',
    contentType: 'application/json',
    run: async (send) => {
      await first.promise;
      send('{"type":"ADDED"}\n');
    },
  }));
  const response = await fetch(url);
  expect(response.headers.get('content-type')).toBe('application/json');
  first.resolve();
  expect(await response.text()).toBe('{"type":"ADDED"}\n');
});

test('a client that goes away aborts its stream', async () => {
  const aborted = Promise.withResolvers<void>();
  const url = await serve(() => ({
    type: 'stream',
    contentType: 'application/json',
    run: (_send, signal) => {
      signal.addEventListener('abort', () => aborted.resolve());
      return aborted.promise;
    },
  }));
  const outgoing = request(url, () => outgoing.destroy());
  outgoing.on('error', () => undefined);
  outgoing.end();
  await expect(aborted.promise).resolves.toBeUndefined();
});

test('stopping ends streams and refuses new connections', async () => {
  const url = await serve(() => ({
    type: 'stream',
    contentType: 'application/json',
    run: async (_send, signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => resolve());
      await promise;
    },
  }));
  const response = await fetch(url);
  const text = response.text().catch(() => 'broken off');
  await server?.stop();
  expect(['', 'broken off']).toContain(await text);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('a defect returns 500 with a Status, and the server goes on', async () => {
  let count = 0;
  const url = await serve(() => {
    count += 1;
    if (count === 1) throw new Error('defect');
    return textResponse(200, 'ok');
  });
  const failed = await fetch(url);
  expect(failed.status).toBe(500);
  expect(await failed.json()).toMatchObject({ kind: 'Status', reason: 'InternalError' });
  expect((await fetch(url)).status).toBe(200);
});

test('refuses bodies beyond 3 MiB', async () => {
  const url = await serve(() => textResponse(200, 'ok'));
  const response = await fetch(url, { method: 'POST', body: 'x'.repeat(4 * 1024 * 1024) });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ reason: 'RequestEntityTooLarge' });
});

test('a taken port is an error that names it', async () => {
  await serve(() => textResponse(200, 'ok'));
  const port = server?.port ?? 0;
  await expect(startHttpServer(port, () => textResponse(200, ''), silentLog)).rejects.toThrow(
    `127.0.0.1:${port}`,
  );
});
