import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/** Below the range from which systems take the ports of outgoing connections: a restarted server gets its port back. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const MAX_ATTEMPTS = 200;
/** Where a port that was given away is held for as long as this process lives. */
const MARK_ADDRESS = '127.255.255.254';

/**
 * Ports on 127.0.0.1, all different, that were free a moment ago. No other test process is given them, however long it
 * takes until a server listens there.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held: { readonly port: number; readonly server: Server }[] = [];
  for (let attempt = 0; attempt < MAX_ATTEMPTS && held.length < count; attempt += 1) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    const mark = await listen(port, MARK_ADDRESS);
    // Not all systems have more than one address for loopback.
    if (mark === 'EADDRINUSE') continue;
    const server = await listen(port, '127.0.0.1');
    if (typeof server === 'object') held.push({ port, server });
    if (typeof mark === 'object') {
      if (typeof server === 'object') mark.unref();
      else await closed(mark);
    }
  }
  await Promise.all(held.map(async ({ server }) => await closed(server)));
  if (held.length < count) throw new Error(`Cannot find ${count} free ports`);
  return held.map(({ port }) => port);
}

/** The server, or the code of the error. */
async function listen(port: number, host: string): Promise<Server | string> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<Server | string>();
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
  server.listen(port, host, () => resolve(server));
  return await promise;
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}
