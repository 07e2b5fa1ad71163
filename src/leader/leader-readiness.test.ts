import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
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

/** A leader that responds so, or not at all; returns its port. */
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

function probe(identity: string | (() => string), port: number, clock = new FakeClock()) {
  const log = new CapturedLog(clock);
  const leader = typeof identity === 'string' ? () => identity : identity;
  return { ask: leaderReadiness({ leader, port, clock, log: log.logger }), log };
}

test.each([
  [200, 'ready'],
  [500, 'not-ready'],
  [302, 'not-ready'],
])('a leader that returns %i is %s', async (status, state) => {
  expect(await probe('localhost', await leader(status)).ask(never)).toBe(state);
});

test('a leader whose name has an address is called without DNS', async () => {
  expect(await probe('pod.127-0-0-1.no-such-namespace.pod', await leader(200)).ask(never)).toBe('ready');
});

test.each([
  ['', 'not-elected'],
  ['evil.example/x?', 'no-request'],
  ['user@host', 'no-request'],
  ['two words', 'no-request'],
  ['pod.10-0-0-1.no-such-namespace.invalid', 'unreachable'],
])('the leader "%s" is %s', async (name, state) => {
  expect(await probe(name, 9_650).ask(never)).toBe(state);
});

test('a leader that says nothing for three seconds is unreachable', async () => {
  const clock = new FakeClock();
  const asked = Promise.withResolvers<void>();
  const { ask, log } = probe('localhost', await leader(undefined, asked.resolve), clock);
  const asking = ask(never);
  await asked.promise;
  await clock.advance(3_000);
  expect(await asking).toBe('unreachable');
  expect(log.records).toMatchObject([
    { level: 'warn', leader: 'localhost', error: 'the leader does not respond within 3 s' },
  ]);
});

test('what a standby learns is logged when it changes', async () => {
  let identity = '';
  const { ask, log } = probe(() => identity, await leader(200));
  await ask(never);
  await ask(never);
  identity = 'localhost';
  await ask(never);
  await ask(never);
  identity = 'two words';
  await ask(never);
  expect(log.records).toMatchObject([
    { level: 'info', msg: 'standby: no leader is elected yet' },
    { level: 'info', leader: 'localhost', msg: 'standby: the leader is ready, and so is this replica' },
    { level: 'warn', leader: 'two words', msg: expect.stringContaining('no host name') },
  ]);
});
