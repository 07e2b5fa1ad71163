import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/** Below the range from which systems take the ports of outgoing connections: a restarted server gets its port back. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const MAX_ATTEMPTS = 200;

/** Ports on 127.0.0.1, all different, that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const held: { readonly port: number; readonly server: Server }[] = [];
  for (let attempt = 0; attempt < MAX_ATTEMPTS && held.length < count; attempt += 1) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    const server = await listen(port);
    if (server !== undefined) held.push({ port, server });
  }
  await Promise.all(held.map(async ({ server }) => await closed(server)));
  if (held.length < count) throw new Error(`Cannot find ${count} free ports`);
  return held.map(({ port }) => port);
}

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<Server | undefined>();
  server.once('error', () => resolve(undefined));
  server.listen(port, '127.0.0.1', () => resolve(server));
  return await promise;
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}
