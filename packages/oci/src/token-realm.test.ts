import { describe, expect, test } from 'vitest';
import { tokenRealm } from './token-realm.ts';

const ACCOUNT = { username: 'me', password: 'secret' };

describe('a token server', () => {
  const realmOf = (base: string, realm: string, { credential = ACCOUNT }: Options = {}): string =>
    tokenRealm({ realm, credential: credential ?? undefined }, { base: new URL(base), host: 'the registry' })
      .href;
  interface Options {
    readonly credential?: typeof ACCOUNT | null;
  }

  for (const [base, realm] of [
    ['https://registry.example.com', 'https://registry.example.com/token'],
    ['https://registry.example.com:5000', 'https://registry.example.com/token'],
    ['https://registry.example.com', 'https://auth.registry.example.com/token'],
    ['https://registry.example.com', 'https://example.com/token'],
    ['https://registry-1.docker.io', 'https://auth.docker.io/token'],
    ['http://localhost:5000', 'http://localhost:5001/token'],
    ['http://registry.example.com', 'https://registry.example.com/token'],
  ] as const) {
    test(`${realm} gets the account for ${base}`, () => {
      expect(realmOf(base, realm)).toBe(realm);
    });
  }

  for (const [base, realm, problem] of [
    ['https://registry.example.com', 'https://auth.example.com/token', 'it is of another domain'],
    ['https://registry.example.com', 'https://example.com.evil.org/token', 'it is of another domain'],
    ['https://registry.example.com', 'https://evilregistry.example.com/token', 'it is of another domain'],
    ['https://registry.example.com', 'https://com/token', 'it is of another domain'],
    ['https://10.0.0.1', 'https://0.0.1/token', 'it is of another domain'],
    [
      'https://registry.example.com',
      'http://registry.example.com/token',
      'it has no TLS, unlike the registry',
    ],
    ['https://registry.example.com', 'file:///etc/passwd', 'that is no URL'],
    ['https://registry.example.com', '/token', 'that is no URL'],
    ['https://registry.example.com', '', 'that is no URL'],
  ] as const) {
    test(`${realm} gets no account for ${base}`, () => {
      expect(() => realmOf(base, realm)).toThrow(expect.objectContaining({ code: 'REGISTRY_REFUSED' }));
      expect(() => realmOf(base, realm)).toThrow(problem);
    });
  }

  test('of another domain is asked without an account, but never without TLS', () => {
    const credential = null;
    expect(realmOf('https://registry.example.org', 'https://auth.example.com/t', { credential })).toBe(
      'https://auth.example.com/t',
    );
    expect(() =>
      realmOf('https://registry.example.org', 'http://auth.example.com/t', { credential }),
    ).toThrow('it has no TLS');
  });
});
