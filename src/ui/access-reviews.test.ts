import type { KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { ReviewServer } from '../../test/support/review-server.ts';
import { AccessReviews } from './access-reviews.ts';

const START_MS = 1_800_000_000_000;
const ALICE = { username: 'alice', groups: ['dev'] };
const LIST = { verb: 'list', module: undefined };

function setup() {
  const clock = new FakeClock(START_MS);
  const kube = new ReviewServer();
  return { clock, kube, reviews: new AccessReviews({ kube, clock, audiences: [] }) };
}

/** A token that says when it expires. */
function tokenUntil(expiresAtMs: number): string {
  const part = (data: object): string => Buffer.from(JSON.stringify(data)).toString('base64url');
  return [part({ alg: 'none' }), part({ exp: expiresAtMs / 1_000 }), 'signature'].join('.');
}

test.each([
  [{ username: 'alice', groups: ['dev'], uid: '7', extra: { a: ['b'] } }, true],
  [{ username: 'alice' }, true],
  [{ username: '' }, false],
  [{ groups: ['system:masters'] }, false],
  [{ username: 7 }, false],
])('a token of the user %j is accepted: %j', async (user, isAccepted) => {
  const { kube, reviews } = setup();
  kube.users.set('token', user);
  expect((await reviews.holderOf('token')) !== undefined).toBe(isAccepted);
});

test('an unknown token has no holder, and the API server is asked only once in ten seconds', async () => {
  const { clock, kube, reviews } = setup();
  expect(await reviews.holderOf('guess')).toBeUndefined();
  kube.users.set('guess', ALICE);
  await clock.advance(9_999);
  expect(await reviews.holderOf('guess')).toBeUndefined();
  expect(kube.requests).toHaveLength(1);
  await clock.advance(1);
  expect(await reviews.holderOf('guess')).toMatchObject({ user: ALICE, expiresAtMs: undefined });
});

test('a token is accepted no longer than it says itself', async () => {
  const { clock, kube, reviews } = setup();
  const token = tokenUntil(START_MS + 4_000);
  kube.users.set(token, ALICE);
  expect(await reviews.holderOf(token)).toMatchObject({ expiresAtMs: START_MS + 4_000 });
  kube.users.delete(token);
  await clock.advance(3_999);
  expect(await reviews.holderOf(token)).toBeDefined();
  await clock.advance(1);
  expect(await reviews.holderOf(token)).toBeUndefined();
});

test.each([
  [['page'], ['page', 'other'], true],
  [['page'], ['other'], false],
  [['page'], [], false],
  [[], [], true],
])('with the audiences %j a token for %j is accepted: %j', async (audiences, granted, isAccepted) => {
  const specs: unknown[] = [];
  const kube = {
    request: async ({ body }: KubeRequest) => {
      specs.push((body as { spec: unknown }).spec);
      return { status: { authenticated: true, user: ALICE, audiences: granted } };
    },
  };
  const reviews = new AccessReviews({ kube, clock: new FakeClock(), audiences });
  expect((await reviews.holderOf('token')) !== undefined).toBe(isAccepted);
  expect(specs).toEqual([audiences.length === 0 ? { token: 'token' } : { token: 'token', audiences }]);
});

test('the API server is asked about the user with groups, uid and extra, the verb and the name', async () => {
  const { kube, reviews } = setup();
  const user = { ...ALICE, uid: '7', extra: { scopes: ['x'] } };
  await reviews.isAllowed(user, { verb: 'get', module: 'web', subresource: 'values' });
  expect(kube.requests[0]?.spec).toEqual({
    user: 'alice',
    groups: ['dev'],
    uid: '7',
    extra: { scopes: ['x'] },
    resourceAttributes: {
      group: 'addon-operator.io',
      resource: 'modules',
      subresource: 'values',
      verb: 'get',
      name: 'web',
    },
  });
});

test('decisions differ by user, groups, verb, module and subresource', async () => {
  const { kube, reviews } = setup();
  kube.rules.set('dev', ['get modules web']);
  const web = { verb: 'get', module: 'web' };
  expect(await reviews.isAllowed(ALICE, web)).toBe(true);
  expect(await reviews.isAllowed({ ...ALICE, groups: [] }, web)).toBe(false);
  expect(await reviews.isAllowed(ALICE, { ...web, module: 'db' })).toBe(false);
  expect(await reviews.isAllowed(ALICE, { ...web, verb: 'abort' })).toBe(false);
  expect(await reviews.isAllowed(ALICE, { ...web, subresource: 'values' })).toBe(false);
  expect(await reviews.isAllowed(ALICE, LIST)).toBe(false);
});

test('a rule that is taken away has no effect after ten seconds', async () => {
  const { clock, kube, reviews } = setup();
  kube.rules.set('alice', ['*']);
  expect(await reviews.isAllowed(ALICE, LIST)).toBe(true);
  kube.rules.clear();
  await clock.advance(10_000);
  expect(await reviews.isAllowed(ALICE, LIST)).toBe(false);
});

test('a review that is allowed and denied allows nothing', async () => {
  const kube = { request: async () => ({ status: { allowed: true, denied: true } }) };
  const reviews = new AccessReviews({ kube, clock: new FakeClock(), audiences: [] });
  expect(await reviews.isAllowed(ALICE, LIST)).toBe(false);
});

test.each([
  ['away', 'the API server cannot check who may see this: your sign-in is not refused'],
  ['forbidden', 'the operator may not create subjectaccessreviews'],
] as const)(
  'while the API server is %s nothing is allowed, and that is remembered nowhere',
  async (trouble, text) => {
    const { kube, reviews } = setup();
    kube.rules.set('alice', ['*']);
    kube.trouble = trouble;
    await expect(reviews.isAllowed(ALICE, LIST)).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining(text) as string,
    });
    await expect(reviews.holderOf('token')).rejects.toMatchObject({ status: 503 });
    kube.trouble = 'none';
    expect(await reviews.isAllowed(ALICE, LIST)).toBe(true);
  },
);

test('the API server gets at most 200 reviews at once, and 50 a second', async () => {
  const { clock, kube, reviews } = setup();
  const ask = async (name: string): Promise<unknown> =>
    await reviews.isAllowed(ALICE, { verb: 'get', module: name }).catch((error: unknown) => error);
  const results = await Promise.all(Array.from({ length: 300 }, (_, index) => ask(`a${index}`)));
  expect(kube.requests).toHaveLength(200);
  expect(results.at(-1)).toMatchObject({ status: 503 });
  await clock.advance(1_000);
  await Promise.all(Array.from({ length: 300 }, (_, index) => ask(`b${index}`)));
  expect(kube.requests).toHaveLength(250);
});
