import { expect, test } from 'vitest';
import { ask, HTML, type StartOptions, startPage, TOKEN } from '../../test/support/page-server.ts';
import { UI_ROUTES } from './ui-handler.ts';

const start = async (options: StartOptions = {}): Promise<number> => (await startPage(options)).port;

const RIGHT = { authorization: `Bearer ${TOKEN}` };
const pathOf = (path: string): string => path.replace('{name}', 'web').replace('{rest}', 'queues/main');
const ROUTES = UI_ROUTES.map(({ method, path, isPublic }) => [method, path, isPublic] as const);
const PRIVATE = ROUTES.filter(([, , isPublic]) => !isPublic);

test('the table of routes has the page, the API and the stream', () => {
  const paths = UI_ROUTES.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['/ui/{rest}', '/api/v1/now', '/api/v1/stream']));
  expect(UI_ROUTES.filter(({ isPublic }) => isPublic).map(({ path }) => path)).toEqual([
    '/',
    '/ui',
    '/ui/{rest}',
  ]);
});

test.each(PRIVATE)('%s %s needs the token', async (method, path) => {
  const port = await start();
  const wrong = [
    'Bearer wrong',
    'Bearer',
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Basic ${TOKEN}`,
    TOKEN,
  ];
  for (const headers of [
    {},
    { cookie: `token=${TOKEN}` },
    { 'x-addon-operator-token': 'wrong' },
    ...wrong.map((authorization) => ({ authorization })),
  ])
    expect(await ask(port, pathOf(path), headers, method)).toMatchObject({
      status: 401,
      body: expect.stringContaining('"REQUEST_REFUSED"') as string,
    });
  expect(await ask(port, `${pathOf(path)}?token=${TOKEN}`, {}, method)).toMatchObject({ status: 401 });
});

test.each(ROUTES)('%s %s refuses other hosts and origins, also with the token', async (method, path) => {
  const port = await start();
  for (const headers of [
    { host: 'evil.example' },
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])
    expect(await ask(port, pathOf(path), { ...RIGHT, ...headers }, method)).toMatchObject({ status: 403 });
});

test.each(ROUTES)('%s %s refuses every other method', async (method, path) => {
  const port = await start();
  const others = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'GET'].filter(
    (other) => other !== method,
  );
  for (const other of others) expect((await ask(port, pathOf(path), RIGHT, other)).status).toBe(405);
});

const ACTIONS = ROUTES.filter(([method]) => method === 'POST');
const JSON_TYPE = { 'content-type': 'application/json' };

test.each(ACTIONS)('%s %s is refused while the page only reads', async (_method, path) => {
  const port = await start();
  const response = await ask(port, pathOf(path), { ...RIGHT, ...JSON_TYPE }, 'POST');
  expect(response).toMatchObject({ status: 403, body: expect.stringContaining('switched off') as string });
});

test.each(ACTIONS)('%s %s takes JSON from the page alone, when actions are on', async (_method, path) => {
  const port = await start({ hasActions: true });
  const statusWith = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await ask(port, pathOf(path), headers, 'POST')).status;
  const right = { ...RIGHT, ...JSON_TYPE, 'sec-fetch-site': 'same-origin' };
  expect(await statusWith(right)).toBe(202);
  expect(await statusWith({ ...RIGHT, 'content-type': 'application/json; charset=utf-8' })).toBe(202);
  expect(await statusWith({ ...right, authorization: '' })).toBe(401);
  expect(await statusWith({ ...right, 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await statusWith({ ...right, 'sec-fetch-site': 'none', origin: 'null', host: 'evil.example' })).toBe(
    403,
  );
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])
    expect(await statusWith({ ...right, 'content-type': type })).toBe(415);
});

test.each(ROUTES)('%s %s sends the headers that protect it, refused or not', async (method, path) => {
  const port = await start();
  for (const headers of [RIGHT, {}, { host: 'evil.example' }]) {
    const { headers: sent } = await ask(port, pathOf(path), headers, method);
    expect(sent).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(sent).not.toHaveProperty('set-cookie');
    expect(Object.keys(sent).filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});

test.each([
  '/nothing',
  '/metrics',
  '/uix',
  '/queue/list.json',
  '/ui/../x',
  '/ui/%2e%2e/x',
  '/ui/assets/none.js',
])('%s is not found', async (path) => {
  expect((await ask(await start(), path, RIGHT)).status).toBe(404);
});

test.each(['/ui/..%2f..%2fpackage.json', '/ui/assets/..%2f..%2f..%2fetc%2fpasswd', '/ui/%', '//etc/passwd'])(
  '%s shows no file of the machine',
  async (path) => {
    const { status, body } = await ask(await start(), path, RIGHT);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).not.toMatch(/root:|addon-operator/);
  },
);

test.each([true, false])('/about says whether the page may act: %j', async (hasActions) => {
  const { body } = await ask(await start({ hasActions }), '/api/v1/about', RIGHT);
  expect(JSON.parse(body)).toMatchObject({ allowsActions: hasActions });
});

test('unknown paths of the API say nothing without the token', async () => {
  const port = await start();
  expect(await ask(port, '/api/v1/nothing', RIGHT)).toMatchObject({ status: 404 });
  expect(await ask(port, '/api/v2/now', RIGHT)).toMatchObject({ status: 404 });
});

test.each(PRIVATE)('%s %s of a standby names the leader, to this machine alone', async (method, path) => {
  const standby = { replica: 'operator-b', namespace: 'ns', leader: 'operator-a' };
  const port = await start({ standby });
  for (const headers of [RIGHT, {}]) {
    const { status, body } = await ask(port, pathOf(path), headers, method);
    expect([status, JSON.parse(body)]).toEqual([
      503,
      { error: { code: 'STANDBY', message: expect.stringContaining('operator-a leads') }, standby },
    ]);
  }
  expect(await ask(port, pathOf(path), { host: 'evil.example' }, method)).toMatchObject({ status: 403 });
});

test('the page of a standby says that it is one', async () => {
  const standby = { replica: 'operator-b', namespace: 'ns', leader: '' };
  expect((await ask(await start({ standby }), '/ui/')).body).toContain('<meta name="standby" content="on">');
});

test.each([
  ['/', './ui/'],
  ['/ui', 'ui/'],
])('%s leads to the page below any prefix', async (path, location) => {
  const { status, headers } = await ask(await start(), path);
  expect([status, headers.location]).toEqual([302, location]);
  expect(new URL(location, `https://proxy.example/a/b${path}`).pathname).toBe('/a/b/ui/');
});

test.each([
  ['/ui/', './'],
  ['/ui/queues', './'],
  ['/ui/modules/web/why?x=/a/b', '../../'],
  ['/ui/queues/my.queue.v2', '../'],
  ['/ui/queues/a%2Fb', '../'],
])('%s is the page, with a base that fits its depth', async (path, base) => {
  const { status, headers, body } = await ask(await start(), path);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(body).toBe(HTML.replace('<head>', `<head><base href="${base}">`));
});

test('files with a hash in their name are kept, compressed ones are preferred', async () => {
  const port = await start();
  const small = await ask(port, '/ui/assets/a-1.js', { 'accept-encoding': 'gzip, br' });
  expect(small).toMatchObject({
    status: 200,
    body: 'small',
    headers: {
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    },
  });
  const plain = await ask(port, '/ui/assets/a-1.js');
  expect(plain).toMatchObject({ body: 'plain' });
  expect(plain.headers).not.toHaveProperty('content-encoding');
  expect((await ask(port, '/ui/favicon.svg')).headers).toMatchObject({
    'content-type': 'image/svg+xml',
    'cache-control': 'no-cache',
  });
  const head = await ask(port, '/ui/assets/a-1.js', {}, 'HEAD');
  expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '5' } });
});

test('a page that was not built says how to build it, and its API responds', async () => {
  const port = await start({ isBuilt: false });
  expect(await ask(port, '/ui/')).toMatchObject({
    status: 503,
    body: expect.stringContaining('npm run build') as string,
  });
  expect((await ask(port, '/api/v1/now', RIGHT)).status).toBe(200);
});

test('secrets are masked in responses, errors and the stream', async () => {
  const text = 'it says s3cret-value';
  const port = await start({
    view: {
      status: () => ({ level: 'broken', text, problems: [text], details: [], modules: {}, tasks: 0 }),
      explainModule: () => Promise.reject(new Error(text)),
      taskQueues: () => [
        { name: text, length: 0, keys: 0, status: { type: 'idle', since: null, until: null }, tasks: [] },
      ],
    },
  });
  for (const path of ['/api/v1/now', '/api/v1/modules/web', '/api/v1/queues', '/api/v1/stream']) {
    const { body } = await ask(port, path, RIGHT);
    expect(body).toContain('it says ');
    expect(body).not.toContain('s3cret');
  }
});

test('the token comes in a header of its own, where a proxy uses the common one', async () => {
  const port = await start();
  const own = { 'x-addon-operator-token': TOKEN };
  expect((await ask(port, '/api/v1/now', own)).status).toBe(200);
  expect((await ask(port, '/api/v1/now', { ...own, authorization: 'Basic dXNlcg==' })).status).toBe(200);
  expect((await ask(port, '/api/v1/now', { ...RIGHT, 'x-addon-operator-token': 'wrong' })).status).toBe(401);
});
