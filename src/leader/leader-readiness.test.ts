import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { leaderReadiness } from './leader-readiness.ts';

const never = new AbortController().signal;
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A leader that answers so, or not at all; returns its port. */
async function leader(status: number | undefined, onRequest?: () => void): Promise<number> {
  const server = createServer((request, response) => {
    onRequest?.();
    if (status === undefined) return;
    response.writeHead(request.url === '/readyz' ? status : 404, { location: '/' }).end();
  });
  servers.push(server);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test.each([
  [200, 'ready'],
  [500, 'not-ready'],
  [302, 'not-ready'],
])('a leader that answers %i is %s', async (status, state) => {
  expect(await leaderReadiness('localhost', await leader(status), new FakeClock(), never)).toBe(state);
});

test.each([
  ['', 'not-elected'],
  ['evil.example/x?', 'no-request'],
  ['user@host', 'no-request'],
  ['two words', 'no-request'],
  ['pod.10-0-0-1.no-such-namespace.invalid', 'unreachable'],
])('the leader "%s" is %s', async (name, state) => {
  expect(await leaderReadiness(name, 9_650, new FakeClock(), never)).toBe(state);
});

test('a leader that says nothing for three seconds is unreachable', async () => {
  const clock = new FakeClock();
  const asked = Promise.withResolvers<void>();
  const asking = leaderReadiness('localhost', await leader(undefined, asked.resolve), clock, never);
  await asked.promise;
  await clock.advance(3_000);
  expect(await asking).toBe('unreachable');
});
