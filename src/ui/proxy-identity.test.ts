import { expect, test } from 'vitest';
import { isProxyAddress, type ProxySettings, userOfHeaders } from './proxy-identity.ts';

const SETTINGS: ProxySettings = {
  uiProxyAddresses: [],
  uiProxySecretHeader: 'X-Secret',
  uiProxyUserHeader: 'X-Forwarded-User',
  uiProxyGroupsHeader: 'X-Forwarded-Groups',
};

test.each([
  ['127.0.0.1', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['10.2.0.1', false],
  ['127.0.0.2', false],
  ['fd00::7', true],
  ['fd01::7', false],
  ['192.168.0.1', false],
  ['::ffff:192.168.0.1', false],
  ['', false],
  ['localhost', false],
  [undefined, false],
])('a request from %s is one of the proxy: %j', (address, expected) => {
  const networks = ['127.0.0.1/32', '::1/128', '10.1.0.0/16', 'fd00::/16'];
  expect(isProxyAddress(networks, address)).toBe(expected);
});

test('no network allows no address', () => {
  expect(isProxyAddress([], '127.0.0.1')).toBe(false);
});

test.each([
  [
    { 'x-forwarded-user': 'alice', 'x-forwarded-groups': 'dev, ops,dev,' },
    { username: 'alice', groups: ['dev', 'ops', 'system:authenticated'] },
  ],
  [{ 'x-forwarded-user': ' alice ' }, { username: 'alice', groups: ['system:authenticated'] }],
  [
    { 'x-forwarded-user': 'alice', 'x-forwarded-groups': 'system:masters,ops, system:nodes' },
    { username: 'alice', groups: ['ops', 'system:authenticated'] },
  ],
  [{}, { refusal: 'the proxy sends no user in the header X-Forwarded-User' }],
  [
    { 'x-forwarded-user': '  ', 'x-forwarded-groups': 'ops' },
    { refusal: expect.stringContaining('no user') },
  ],
  [{ 'x-forwarded-user': 'mallory, alice' }, { refusal: expect.stringContaining('more than one user') }],
  [{ 'x-forwarded-user': 'system:admin' }, { refusal: expect.stringContaining('system:') }],
  [{ 'x-auth-request-user': 'alice' }, { refusal: expect.stringContaining('no user') }],
])('the headers %j name %j', (headers, user) => {
  expect(userOfHeaders(headers, SETTINGS)).toEqual(user);
});

test('headers have the names that the settings give them', () => {
  const settings = {
    ...SETTINGS,
    uiProxyUserHeader: 'X-Auth-Request-User',
    uiProxyGroupsHeader: 'Remote-Groups',
  };
  expect(userOfHeaders({ 'x-auth-request-user': 'bob', 'remote-groups': 'a' }, settings)).toEqual({
    username: 'bob',
    groups: ['a', 'system:authenticated'],
  });
});
