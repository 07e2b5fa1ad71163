import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { isPortFree } from './free-port.ts';

test('isPortFree() sees whether somebody listens', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  expect(await isPortFree('127.0.0.1', port)).toBe(false);
  await new Promise((resolve) => {
    server.close(resolve);
  });
  expect(await isPortFree('127.0.0.1', port)).toBe(true);
});
