import { describe, expect, test } from 'vitest';
import { MAX_RETRY_AFTER_MS, nextPage, parseChallenges, retryAfterMs } from './response-headers.ts';

describe('challenges', () => {
  const bearer = (parameters: Record<string, string>): unknown => [{ scheme: 'bearer', parameters }];
  for (const [name, header, expected] of [
    [
      'a bearer challenge with all parameters',
      'Bearer realm="https://auth.example.com/token",service="registry.example.com",scope="repository:a/b:pull,push"',
      bearer({
        realm: 'https://auth.example.com/token',
        service: 'registry.example.com',
        scope: 'repository:a/b:pull,push',
      }),
    ],
    [
      'names in capitals and spaces',
      'BEARER  Realm = "https://a/t" , Service=x',
      bearer({ realm: 'https://a/t', service: 'x' }),
    ],
    ['escaped quotes', String.raw`Bearer realm="a\"b\\c"`, bearer({ realm: String.raw`a"b\c` })],
    ['an empty value', 'Bearer realm="",service=""', bearer({ realm: '', service: '' })],
    ['a scheme without parameters', 'Negotiate', [{ scheme: 'negotiate', parameters: {} }]],
    [
      'two challenges in one header',
      'Basic realm="x", Bearer realm="https://a/t",error="invalid_token"',
      [
        { scheme: 'basic', parameters: { realm: 'x' } },
        { scheme: 'bearer', parameters: { realm: 'https://a/t', error: 'invalid_token' } },
      ],
    ],
    ['a parameter without a scheme', 'realm="x"', []],
    ['a quote that does not end', 'Bearer realm="x', [{ scheme: 'bearer', parameters: { realm: '' } }]],
    ['no header', '', []],
  ] as const) {
    test(`${name} is read`, () => {
      expect(parseChallenges(header)).toEqual(expected);
    });
  }

  test('a parameter named like a member of objects stays one', () => {
    expect(parseChallenges('Bearer __proto__="x"')[0]?.parameters).toHaveProperty('__proto__', 'x');
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 0, 1);
  for (const [header, expected] of [
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['3600', MAX_RETRY_AFTER_MS],
    ['86400', MAX_RETRY_AFTER_MS],
    ['99999999999999999999', MAX_RETRY_AFTER_MS],
    ['Thu, 01 Jan 2026 00:01:30 GMT', 90_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const) {
    test(`${JSON.stringify(header)} is ${expected} ms`, () => {
      expect(retryAfterMs(header, now)).toBe(expected);
    });
  }
});

describe('Link', () => {
  const page = new URL('https://registry.example.com/v2/a/tags/list?n=2');
  for (const [header, expected] of [
    ['</v2/a/tags/list?last=b&n=2>; rel="next"', 'https://registry.example.com/v2/a/tags/list?last=b&n=2'],
    ['<list?last=b>; rel=next', 'https://registry.example.com/v2/a/tags/list?last=b'],
    ['<https://other.example.com/x>; title="x"; rel="last next"', 'https://other.example.com/x'],
    ['</1>; rel="prev", </2>; rel="next"', 'https://registry.example.com/2'],
    ['</1>; rel="prev"', undefined],
    ['<http://[>; rel="next"', undefined],
    ['/v2/a/tags/list; rel="next"', undefined],
    [undefined, undefined],
  ] as const) {
    test(`${header} leads to ${expected}`, () => {
      expect(nextPage(header, page)?.href).toBe(expected);
    });
  }
});
