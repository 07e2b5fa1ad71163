import { createServer } from 'node:net';

/** Whether a port of this address is free. */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false));
  server.listen({ host, port }, () => server.close(() => resolve(true)));
  return await promise;
}
