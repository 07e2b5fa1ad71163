import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listening } from '@addon-operator/http-server/listening';
import { expect, test } from 'vitest';
import { peerUid } from './peer-uid.ts';

async function acceptOne<T>(
  target: { readonly path: string } | { readonly port: number; readonly host: string },
  use: (accepted: Socket) => Promise<T>,
): Promise<T> {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => accepted.resolve(socket));
  await listening(server, target, () => undefined);
  const address = server.address();
  const client =
    typeof address === 'object' && address !== null
      ? createConnection(address.port, '127.0.0.1')
      : createConnection(address ?? '');
  try {
    return await use(await accepted.promise);
  } finally {
    client.destroy();
    server.close();
  }
}

test.runIf(process.platform === 'linux')(
  'peerUid() is the user of the process that has connected',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'peer-uid-'));
    try {
      expect(await acceptOne({ path: join(directory, 's') }, peerUid)).toBe(process.getuid?.());
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);

test('peerUid() knows nothing, when the connection is closed', async () => {
  const seen = await acceptOne({ host: '127.0.0.1', port: 0 }, async (socket) => {
    socket.destroy();
    return await peerUid(socket);
  });
  expect(seen).toBeUndefined();
});
