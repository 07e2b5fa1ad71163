import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { expect, test } from 'vitest';
import type { ClusterAccess } from './cluster-access.ts';
import { ConnectionPool } from './connection-pool.ts';

function poolFor(server: string, tls: ClusterAccess['tls'] = { isVerified: true }): ConnectionPool {
  return new ConnectionPool({
    server,
    currentNamespace: 'default',
    source: 'test',
    tls,
    identity: { type: 'anonymous' },
  });
}

test('ConnectionPool keeps its connections while the certificates are the same', () => {
  const pool = poolFor('https://a');
  const agent = pool.agentFor('request', { ca: 'CA', authorization: 'Bearer one' });
  expect(pool.agentFor('request', { ca: 'CA', authorization: 'Bearer two' })).toBe(agent);
  expect(pool.agentFor('watch', { ca: 'CA' })).not.toBe(agent);
});

test.each([{ ca: 'new' }, { cert: 'new' }, { key: 'new' }])(
  'ConnectionPool makes new connections after a rotation to %j',
  (rotated) => {
    const pool = poolFor('https://a');
    const held = { ca: 'CA', cert: 'C', key: 'K' };
    const agent = pool.agentFor('request', held);
    const next = pool.agentFor('request', { ...held, ...rotated });
    expect(next).not.toBe(agent);
    expect(next).toMatchObject({ options: { ...held, ...rotated } });
  },
);

test('ConnectionPool verifies servers by default, and by the given name', () => {
  expect(poolFor('https://a').agentFor('request', {})).toMatchObject({
    options: { rejectUnauthorized: true },
  });
  const tls = { isVerified: false, serverName: 'api.local' };
  expect(poolFor('https://a', tls).agentFor('request', {})).toMatchObject({
    options: { rejectUnauthorized: false, servername: 'api.local' },
  });
});

test('ConnectionPool speaks plain HTTP to an http server only', () => {
  expect(poolFor('http://a').agentFor('request', {})).not.toBeInstanceOf(HttpsAgent);
  expect(poolFor('http://a').agentFor('request', {})).toBeInstanceOf(HttpAgent);
  expect(poolFor('https://a').agentFor('request', {})).toBeInstanceOf(HttpsAgent);
});
