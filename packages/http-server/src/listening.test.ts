import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listening } from './listening.ts';

test('listening() waits for the port, and says that it is taken', async () => {
  const first = createServer();
  await listening(first, { host: '127.0.0.1', port: 0 }, () => undefined);
  const address = first.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  await expect(listening(createServer(), { host: '127.0.0.1', port }, () => undefined)).rejects.toMatchObject(
    {
      code: 'EADDRINUSE',
    },
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  first.close(() => resolve());
  await promise;
});
