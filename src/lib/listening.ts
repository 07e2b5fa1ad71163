import type { ListenOptions, Server } from 'node:net';

/** Resolves when the server listens; rejects with what the system says when it cannot. */
export async function listening(server: Server, target: ListenOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('listening', resolve);
  server.once('error', reject);
  server.listen(target);
  await promise;
  server.off('error', reject);
}
