import {
  array,
  assert as assertProperty,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
} from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { Credential } from './registry-credentials.ts';
import { TokenCache, type TokenUse } from './token-cache.ts';

const use = (credential: Credential | undefined, rest: Partial<TokenUse> = {}): TokenUse => ({
  registry: 'registry.example.com',
  realm: 'https://registry.example.com/token',
  service: 'registry',
  scope: 'repository:web:pull',
  ...rest,
  credential,
});

test('a token is kept for nine tenths of its time, from when it was requested', async () => {
  const clock = new FakeClock();
  const cache = new TokenCache(clock);
  cache.put(use(undefined), 'token', clock.steadyMs() - 10_000, 100);
  await clock.advance(79_999);
  expect(cache.get(use(undefined))).toBe('token');
  await clock.advance(1);
  expect(cache.get(use(undefined))).toBeUndefined();
});

test('a token without a time is kept for 54 s', async () => {
  const clock = new FakeClock();
  const cache = new TokenCache(clock);
  cache.put(use(undefined), 'token', clock.steadyMs());
  await clock.advance(53_999);
  expect(cache.get(use(undefined))).toBe('token');
  await clock.advance(1);
  expect(cache.get(use(undefined))).toBeUndefined();
});

test('only the newest thousand tokens are kept', () => {
  const cache = new TokenCache(new FakeClock());
  for (let index = 0; index < 1_001; index += 1)
    cache.put(use(undefined, { scope: `${index}` }), `${index}`, 0, 60);
  expect(cache.get(use(undefined, { scope: '0' }))).toBeUndefined();
  expect(cache.get(use(undefined, { scope: '1' }))).toBe('1');
});

const ACCOUNTS: readonly (Credential | undefined)[] = [
  undefined,
  { username: 'a', password: 'b' },
  { username: 'a', password: 'c' },
  { username: 'b', password: 'b' },
  { identityToken: 'a' },
  { identityToken: 'b' },
];
/** Each differs from the first one in one part, or looks alike when parts are joined carelessly. */
const USES: readonly TokenUse[] = [
  ...ACCOUNTS.map((account) => use(account)),
  use(ACCOUNTS[1], { registry: 'other.example.com' }),
  use(ACCOUNTS[1], { realm: 'https://other.example.com/token' }),
  use(ACCOUNTS[1], { service: 'other' }),
  use(ACCOUNTS[1], { scope: 'repository:web:pull,push' }),
  use(ACCOUNTS[1], { service: 'registry","repository:web:pull', scope: '' }),
];
const anyUse = constantFrom(...USES);
const step = oneof(
  record({ type: constant('put' as const), use: anyUse, seconds: integer({ min: 0, max: 100 }) }),
  record({ type: constant('get' as const), use: anyUse }),
  record({ type: constant('drop' as const), use: anyUse }),
  record({ type: constant('wait' as const), ms: integer({ min: 0, max: 60_000 }) }),
);

test('a token is returned for exactly what it was issued for, and not after its time', async () => {
  await assertProperty(
    asyncProperty(array(step, { maxLength: 60 }), async (steps) => {
      const clock = new FakeClock();
      const cache = new TokenCache(clock);
      const model: { readonly use: TokenUse; readonly token: string; readonly endMs: number }[] = [];
      const found: (string | undefined)[] = [];
      const expected: (string | undefined)[] = [];
      for (const [index, one] of steps.entries()) {
        if (one.type === 'wait') await clock.advance(one.ms);
        else if (one.type === 'put') {
          cache.put(one.use, `${index}`, clock.steadyMs(), one.seconds);
          model.unshift({ use: one.use, token: `${index}`, endMs: clock.steadyMs() + one.seconds * 900 });
        } else if (one.type === 'drop') {
          cache.drop(one.use);
          model.unshift({ use: one.use, token: '', endMs: 0 });
        } else {
          const newest = model.find((entry) => entry.use === one.use);
          expected.push(newest !== undefined && clock.steadyMs() < newest.endMs ? newest.token : undefined);
          found.push(cache.get(one.use));
        }
      }
      expect(found).toEqual(expected);
    }),
  );
});
