import { createServer, request } from 'node:http';
import type { RawRequest } from './raw-client.ts';

/** Passes requests on to an API server and writes them down. */
export interface RecordingProxy {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  stop(): Promise<void>;
}

/** Starts a recording proxy in front of a server that speaks plain HTTP. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const requests: RawRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const { method = 'GET', url: path = '/', headers } = incoming;
      requests.push({
        method,
        path,
        accept: headers.accept ?? '',
        ...(headers['content-type'] === undefined ? {} : { contentType: headers['content-type'] }),
        ...(body.length === 0 ? {} : { body }),
      });
      const onward = request(new URL(path, target), { method, headers, agent: false }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        outgoing.flushHeaders();
        response.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      outgoing.on('close', () => onward.destroy());
      onward.end(body);
    });
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    requests,
    stop: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}
