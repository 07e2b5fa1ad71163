import { get } from 'node:http';
import { silentLogger } from '@addon-operator/base/log';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { READY_MODULE } from '../../test/support/module-explanations.ts';
import { ask, type PageServer, startPage } from '../../test/support/page-server.ts';
import { ReviewServer } from '../../test/support/review-server.ts';
import { RUN_START } from '../../test/support/run-start.ts';
import { Journal } from '../journal/journal.ts';
import { AccessReviews } from './access-reviews.ts';
import type { ProxySettings } from './proxy-identity.ts';
import { kubernetesSignIn, proxySignIn } from './sign-in.ts';
import { UI_ROUTES } from './ui-handler.ts';

const SECRET = 'the-secret-of-the-proxy';
const PROXY: ProxySettings = {
  uiProxyAddresses: ['127.0.0.1/32'],
  uiProxySecretHeader: 'X-Addon-Operator-Proxy-Secret',
  uiProxyUserHeader: 'X-Forwarded-User',
  uiProxyGroupsHeader: 'X-Forwarded-Groups',
};
const BY_PROXY = { 'x-addon-operator-proxy-secret': SECRET, 'x-forwarded-user': 'alice' };
const JSON_TYPE = { 'content-type': 'application/json' };
const RUN = '/api/v1/modules/web/actions';

interface Started extends PageServer {
  readonly kube: ReviewServer;
}

const as = (token: string): Record<string, string> => ({ 'x-addon-operator-token': token });

/** A page where `alice`, `bob` and `eve` have tokens of their names; a test gives them rules. */
async function kubernetesPage(hasActions = true): Promise<Started> {
  const kube = new ReviewServer();
  for (const username of ['alice', 'bob', 'eve']) kube.users.set(username, { username, groups: ['dev'] });
  const server = await startPage({
    auth: 'kubernetes',
    hasActions,
    view: { journal: journalWithRun() },
    signIn: (options) =>
      kubernetesSignIn(new AccessReviews({ kube, clock: options.clock, audiences: [] }), options),
  });
  return { ...server, kube };
}

/** A journal with one run, of module `web`. */
function journalWithRun(): Journal {
  const journal = new Journal({ clock: new FakeClock() });
  journal.begin({ ...RUN_START, taskId: 'main/1', trigger: 'change' });
  return journal;
}

async function proxyPage(settings: ProxySettings = PROXY, readSecret = async () => SECRET): Promise<Started> {
  const kube = new ReviewServer();
  kube.rules.set('alice', ['*']);
  const server = await startPage({
    auth: 'proxy',
    hasActions: true,
    signIn: (options) => {
      const reviews = new AccessReviews({ kube, clock: options.clock, audiences: [] });
      return proxySignIn(reviews, settings, { ...options, readSecret, log: silentLogger });
    },
  });
  return { ...server, kube };
}

const PRIVATE = UI_ROUTES.filter(({ isPublic }) => !isPublic).map(
  ({ method, path }) => [method, path] as const,
);
const pathOf = (path: string): string => path.replace('/runs/{name}', '/runs/1').replace('{name}', 'web');

/** The rule that each route needs; a new route has to be entered here. */
const RULES: Readonly<Record<string, string>> = {
  '/now': 'list modules',
  '/queues': 'list modules',
  '/modules': 'list modules',
  '/modules/{name}': 'get modules web',
  '/modules/{name}/values': 'get modules/values web',
  '/modules/{name}/patches': 'get modules/values web',
  '/modules/{name}/snapshots': 'get modules/values web',
  '/modules/{name}/hooks': 'get modules web',
  '/modules/{name}/changed': 'get modules/values web',
  '/modules/{name}/drift': 'get modules web',
  '/modules/{name}/objects': 'get modules web',
  '/modules/{name}/history': 'get modules/values web',
  '/modules/{name}/diff': 'get modules/values web',
  '/modules/{name}/actions': 'reconcile modules web',
  '/actions': 'trigger modules',
  '/audit': 'list modules',
  '/delivery': 'list modules',
  '/graph': 'list modules',
  '/about': 'list modules',
  '/search': 'list modules',
  '/runs': 'list modules',
  '/runs/{name}': 'get modules/values web',
  '/timeline': 'list modules',
  '/events/{name}': 'list modules',
  '/next': 'list modules',
  '/stream': 'list modules',
};
/** What anyone who is signed in may read. */
const WITHOUT_RULE = ['/api/v1/me', '/api/v1/docs'];

test.each(PRIVATE)('%s %s needs a user in both modes', async (method, path) => {
  const { port } = await kubernetesPage();
  const wrong = [
    {},
    as('mallory'),
    as(''),
    { authorization: 'Basic alice' },
    BY_PROXY,
    { cookie: 'token=alice' },
  ];
  for (const headers of wrong)
    expect(await ask(port, pathOf(path), headers, method)).toMatchObject({
      status: 401,
      body: expect.stringContaining('"REQUEST_REFUSED"') as string,
    });
  const { port: proxied } = await proxyPage();
  const refused = [
    {},
    { 'x-forwarded-user': 'alice' },
    { ...BY_PROXY, 'x-addon-operator-proxy-secret': `${SECRET}x` },
    { ...BY_PROXY, 'x-forwarded-user': '' },
    { ...BY_PROXY, 'x-forwarded-user': 'system:admin' },
    { 'x-addon-operator-proxy-secret': SECRET, 'x-auth-request-user': 'alice' },
    as('alice'),
    { authorization: 'Bearer alice' },
  ];
  for (const headers of refused) expect((await ask(proxied, pathOf(path), headers, method)).status).toBe(401);
});

test.each(PRIVATE)('%s %s needs its rule, and no other', async (method, path) => {
  const rule = RULES[path.replace('/api/v1', '')];
  const { port, kube } = await kubernetesPage();
  const others = [...new Set(Object.values(RULES))].filter((other) => other !== rule);
  kube.rules.set('alice', rule === undefined ? [] : [rule]);
  kube.rules.set('bob', others);
  const statusAs = async (user: string): Promise<number> =>
    (await ask(port, pathOf(path), { ...as(user), ...JSON_TYPE }, method)).status;
  const others403 = [(await statusAs('bob')) === 403, (await statusAs('eve')) === 403];
  const isFree = WITHOUT_RULE.includes(path);
  expect([rule === undefined, ...others403]).toEqual([isFree, !isFree, !isFree]);
  expect(await statusAs('alice')).not.toBe(401);
  expect(await statusAs('alice')).not.toBe(403);
});

test.each([
  ['/api/v1/stream?topics=log', 'get modules/values'],
  ['/api/v1/stream?topics=queues,output&run=1', 'get modules/values'],
  ['/api/v1/runs/99', 'get modules/values'],
  ['/api/v1/modules/global/values', 'get modules/values global'],
])('%s shows lines of hooks or values, and needs %s', async (path, rule) => {
  const { port, kube } = await kubernetesPage();
  kube.rules.set('eve', ['list modules', 'get modules']);
  kube.rules.set('alice', ['list modules', rule]);
  expect((await ask(port, path, as('eve'))).status).toBe(403);
  expect((await ask(port, path, as('alice'))).status).not.toBe(403);
});

test('a person without a rule learns which one, and which ClusterRole has it', async () => {
  const { port } = await kubernetesPage();
  const messageOf = async (path: string, method = 'GET'): Promise<string> => {
    const { body } = await ask(port, path, { ...as('eve'), ...JSON_TYPE }, method);
    return (JSON.parse(body) as { error: { message: string } }).error.message;
  };
  expect(await messageOf('/api/v1/now')).toBe(
    'eve lacks the verb "list" on modules.addon-operator.io: bind the ClusterRole addon-operator-viewer of the chart to this user, or another one with this rule',
  );
  expect(await messageOf('/api/v1/modules/web/values')).toContain(
    'lacks the verb "get" on modules/values.addon-operator.io for "web": bind the ClusterRole addon-operator-operator',
  );
  expect(await messageOf(RUN, 'POST')).toContain(
    'lacks the verb "reconcile" on modules.addon-operator.io for "web"',
  );
});

test('who may not read values sees which of them have changed, and not what they were', async () => {
  const kube = new ReviewServer();
  for (const username of ['alice', 'bob']) kube.users.set(username, { username });
  kube.rules.set('alice', ['get modules']);
  kube.rules.set('bob', ['get modules', 'get modules/values']);
  const change = { section: 'web', pointer: '/size', source: 'ConfigMap', before: 'small', now: 'large' };
  const changed = { since: null, run: null, version: null, files: null, moreValues: 0, objects: [] };
  const explanation = { ...READY_MODULE, release: null, changed: { ...changed, values: [change] } };
  const { port } = await startPage({
    auth: 'kubernetes',
    view: { explainModule: async () => explanation },
    signIn: (options) =>
      kubernetesSignIn(new AccessReviews({ kube, clock: options.clock, audiences: [] }), options),
  });
  const readAs = async (user: string): Promise<string> =>
    (await ask(port, '/api/v1/modules/web', as(user))).body;
  expect(await readAs('bob')).toContain('"before":"small","now":"large"');
  expect(await readAs('alice')).toContain(
    '"pointer":"/size","source":"ConfigMap","before":"***","now":"***"',
  );
});

test('an action has the name of the person', async () => {
  const { port, kube, actions } = await kubernetesPage();
  kube.rules.set('bob', ['reconcile modules']);
  const response = await ask(port, RUN, { ...as('bob'), ...JSON_TYPE }, 'POST');
  expect([response.status, actions]).toEqual([
    202,
    [{ module: 'web', target: 'module web', action: 'reconcile', reason: '', by: 'page (bob)' }],
  ]);
});

test('actions that are switched off are refused also with a rule', async () => {
  const { port, kube, actions } = await kubernetesPage(false);
  kube.rules.set('bob', ['*']);
  expect(await ask(port, RUN, { ...as('bob'), ...JSON_TYPE }, 'POST')).toMatchObject({ status: 403 });
  expect(actions).toEqual([]);
  expect(JSON.parse((await ask(port, '/api/v1/me', as('bob'))).body)).toMatchObject({
    allowsActions: false,
    actions: [],
  });
});

test('/me says who the client is, and why it may not do what', async () => {
  const { port, kube } = await kubernetesPage();
  kube.rules.set('dev', ['pause modules web', 'rollback modules']);
  const read = async (query: string): Promise<Record<string, unknown>> =>
    JSON.parse((await ask(port, `/api/v1/me${query}`, as('alice'))).body) as Record<string, unknown>;
  const allowed = (me: Record<string, unknown>): unknown =>
    (me['actions'] as { action: string; refusal: string | null }[])
      .filter(({ refusal }) => refusal === null)
      .map(({ action }) => action);
  const me = await read('?module=web');
  expect(me).toMatchObject({
    signIn: 'kubernetes',
    user: 'alice',
    groups: ['dev'],
    expiresAt: null,
    allowsActions: true,
    module: 'web',
  });
  expect(allowed(me)).toEqual(['pause', 'resume', 'rollback', 'pause-all', 'resume-all']);
  expect(me['actions']).toContainEqual({
    action: 'abort-hook',
    verb: 'abort',
    refusal: expect.stringContaining('lacks the verb "abort"') as string,
  });
  expect(allowed(await read('?module=db'))).toEqual(['rollback']);
  expect(allowed(await read(''))).toEqual(['rollback']);
});

test('while the API server is away nobody is taken for signed out', async () => {
  const { port, kube, clock } = await kubernetesPage();
  kube.rules.set('alice', ['list modules']);
  expect((await ask(port, '/api/v1/now', as('alice'))).status).toBe(200);
  kube.trouble = 'away';
  expect((await ask(port, '/api/v1/now', as('alice'))).status).toBe(200);
  await clock.advance(10_000);
  for (let attempt = 0; attempt < 30; attempt += 1)
    expect(await ask(port, '/api/v1/now', as('alice'))).toMatchObject({
      status: 503,
      body: expect.stringContaining('your sign-in is not refused') as string,
    });
  kube.trouble = 'none';
  expect((await ask(port, '/api/v1/now', as('alice'))).status).toBe(200);
});

test('failed sign-ins are limited, and lock out no one who has signed in', async () => {
  const { port, kube, clock } = await kubernetesPage();
  kube.rules.set('alice', ['list modules']);
  const statusOf = async (token: string): Promise<number> =>
    (await ask(port, '/api/v1/now', as(token))).status;
  expect(await statusOf('alice')).toBe(200);
  const statuses: number[] = [];
  for (let guess = 0; guess < 30; guess += 1) statuses.push(await statusOf(`guess-${guess}`));
  expect(statuses).toEqual([
    ...Array.from({ length: 20 }, () => 401),
    ...Array.from({ length: 10 }, () => 429),
  ]);
  expect(kube.requests.filter(({ spec }) => spec.token?.startsWith('guess'))).toHaveLength(20);
  await clock.advance(11_000);
  expect([await statusOf('alice'), await statusOf('bob')]).toEqual([200, 429]);
  await clock.advance(60_000);
  expect(await statusOf('bob')).toBe(403);
});

test('no response contains a token or the secret', async () => {
  const { port } = await kubernetesPage();
  const guess = 'eyJhbGciOi.guess.signature';
  const { port: proxied } = await proxyPage();
  const responses = [
    await ask(port, '/api/v1/now', as(guess)),
    await ask(port, '/api/v1/now', { authorization: `Bearer ${guess}` }),
    await ask(proxied, '/api/v1/now', { ...BY_PROXY, 'x-addon-operator-proxy-secret': guess }),
    await ask(proxied, '/api/v1/me', BY_PROXY),
  ];
  for (const response of responses) {
    expect(JSON.stringify(response)).not.toContain(guess);
    expect(JSON.stringify(response)).not.toContain(SECRET);
  }
});

/** Opens a stream, and resolves with all it has sent when the server ends it. */
async function streamTo(port: number, headers: Record<string, string>): Promise<{ ended: Promise<string> }> {
  const opened = Promise.withResolvers<{ ended: Promise<string> }>();
  const ended = Promise.withResolvers<string>();
  const sent = get({ host: '127.0.0.1', port, path: '/api/v1/stream', headers, agent: false }, (response) => {
    let body = '';
    response.on('data', (chunk: Buffer) => {
      body += chunk.toString();
      opened.resolve({ ended: ended.promise });
    });
    response.on('end', () => ended.resolve(body));
  });
  sent.on('error', opened.reject);
  onTestFinished(() => void sent.destroy());
  return await opened.promise;
}

test('a stream ends when its token is not accepted any more, and the next request is refused', async () => {
  const { port, kube, clock } = await kubernetesPage();
  kube.rules.set('alice', ['list modules']);
  const { ended } = await streamTo(port, as('alice'));
  kube.users.delete('alice');
  await clock.advance(10_000);
  expect(await ended).toContain('event: ready');
  expect(await ask(port, '/api/v1/now', as('alice'))).toMatchObject({
    status: 401,
    body: expect.stringContaining('it has expired') as string,
  });
});

test('a stream ends when the rule is taken away', async () => {
  const { port, kube, clock } = await kubernetesPage();
  kube.rules.set('alice', ['list modules']);
  const { ended } = await streamTo(port, as('alice'));
  kube.rules.clear();
  await clock.advance(10_000);
  expect(await ended).toContain('event: ready');
});

test('a stream goes on while the API server is away, and ends with the token', async () => {
  const { port, kube, clock } = await kubernetesPage();
  const payload = Buffer.from(JSON.stringify({ exp: 95 })).toString('base64url');
  const token = `a.${payload}.c`;
  kube.users.set(token, { username: 'alice' });
  kube.rules.set('alice', ['list modules']);
  let body: string | undefined;
  const { ended } = await streamTo(port, as(token));
  void ended.then((text) => {
    body = text;
  });
  kube.trouble = 'away';
  await clock.advance(94_000);
  await ask(port, '/ui/');
  expect(body).toBeUndefined();
  await clock.advance(1_000);
  expect(await ended).toContain('event: ready');
});

test('a stream through a proxy ends after ten minutes, so that the proxy checks the person again', async () => {
  const { port, clock } = await proxyPage();
  const { ended } = await streamTo(port, BY_PROXY);
  await clock.advance(600_000);
  expect(await ended).toContain('event: ready');
});

test('a proxy names user and groups, and RBAC decides', async () => {
  const { port, kube } = await proxyPage();
  kube.rules.set('ops', ['list modules', 'reconcile modules']);
  const bob = { ...BY_PROXY, 'x-forwarded-user': 'bob', 'x-forwarded-groups': 'dev,ops' };
  expect((await ask(port, '/api/v1/now', bob)).status).toBe(200);
  expect((await ask(port, RUN, { ...bob, ...JSON_TYPE }, 'POST')).status).toBe(202);
  expect((await ask(port, '/api/v1/modules/web', bob)).status).toBe(403);
  expect((await ask(port, '/api/v1/now', { ...bob, 'x-forwarded-groups': 'dev' })).status).toBe(403);
  // An identity of the cluster's own cannot be claimed.
  kube.rules.set('system:masters', ['*']);
  const claimed = { ...bob, 'x-forwarded-groups': 'system:masters' };
  expect((await ask(port, '/api/v1/now', claimed)).status).toBe(403);
});

test('from an address that is not one of the proxy, the right headers are refused', async () => {
  const { port } = await proxyPage({ ...PROXY, uiProxyAddresses: ['10.0.0.0/8'] });
  expect((await ask(port, '/api/v1/now', BY_PROXY)).status).toBe(401);
});

test.each([
  ['cannot be read', async () => await Promise.reject(new Error('ENOENT'))],
  ['is empty', async () => ''],
  ['is short', async () => 'short'],
])('a secret of the proxy that %s lets no one in', async (_what, readSecret) => {
  const { port } = await proxyPage(PROXY, readSecret);
  for (const given of [SECRET, 'short', ''])
    expect(
      (await ask(port, '/api/v1/now', { ...BY_PROXY, 'x-addon-operator-proxy-secret': given })).status,
    ).toBe(given === '' ? 401 : 503);
});

test('the page says how to sign in, without a sign-in', async () => {
  const { port } = await kubernetesPage();
  const { status, body } = await ask(port, '/ui/');
  expect([status, body]).toEqual([
    200,
    expect.stringContaining('<meta name="sign-in" content="kubernetes">'),
  ]);
});
