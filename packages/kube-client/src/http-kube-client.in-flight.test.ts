import { expect, onTestFinished, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { responseJson, startLoopbackServer } from '../../../test/support/loopback-server.ts';
import { HttpKubeClient } from './http-kube-client.ts';

const never = new AbortController().signal;
const get = { method: 'GET', path: '/api/v1/pods' } as const;

function clientOf(server: string): HttpKubeClient {
  const client = new HttpKubeClient({
    access: {
      server,
      currentNamespace: 'default',
      source: 'test',
      tls: { isVerified: true },
      identity: { type: 'anonymous' },
    },
    credentials: { current: async () => ({}), refresh: async () => ({}) },
    clock: new FakeClock(),
    random: () => 0,
    version: '1.2.3',
  });
  onTestFinished(() => client.close());
  return client;
}

test('at most 16 requests are in flight, the others wait their turn, and one that aborts leaves the row', async () => {
  const held: (() => void)[] = [];
  const [sixteen, more] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = await startLoopbackServer((_, response) => {
    held.push(() => responseJson(response, 200, {}));
    if (server.requests.length === 16) sixteen.resolve();
    if (server.requests.length === 17) more.resolve();
  });
  onTestFinished(() => server.stop());
  const client = clientOf(server.url);
  const aborted = new AbortController();
  const first = Array.from({ length: 16 }, () => client.request(get, never));
  const impatient = client.request(get, aborted.signal).catch((error: unknown) => error);
  const last = client.request({ ...get, path: '/api/v1/nodes' }, never);
  await sixteen.promise;
  await settle();
  expect(server.requests).toHaveLength(16);
  aborted.abort(new Error('enough'));
  expect(await impatient).toMatchObject({ message: 'enough' });
  held.shift()?.();
  await more.promise;
  expect(server.requests.at(-1)?.path).toBe('/api/v1/nodes');
  for (const reply of held) reply();
  await Promise.all([...first, last]);
});
