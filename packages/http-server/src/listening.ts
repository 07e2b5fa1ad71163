import type { ListenOptions, Server } from 'node:net';

/**
 * Resolves when the server listens; rejects with what the system says when it cannot.
 *
 * @param onError receives errors of the server that listens, such as too many open files: a connection is lost then,
 *   and without a listener the process would be
 */
export async function listening(
  server: Server,
  target: ListenOptions | Server,
  onError: (error: Error) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('listening', resolve);
  server.once('error', reject);
  server.listen(target);
  await promise;
  server.on('error', onError);
  server.off('error', reject);
}
