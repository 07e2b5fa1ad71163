import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { createAuthority, issueCertificate } from '@addon-operator/crypto/x509-certificate';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { NO_BINDINGS } from '../../../test/support/hook-configs.ts';
import { startHttpHooks } from '../../../test/support/http-hooks.ts';
import { JumpClock } from '../../../test/support/jump-clock.ts';
import {
  type LoopbackServer,
  type Respond,
  responseJson,
  startLoopbackServer,
} from '../../../test/support/loopback-server.ts';
import type { ModuleName } from '../../values/module-key.ts';
import type { SecretReference } from '../../values/secrets/secret-reference.ts';
import type { Hook } from '../hook.ts';
import type { HttpHooks } from './http-hooks.ts';

const never = new AbortController().signal;
const INPUTS = {
  bindingContext: '[{"binding":"onStartup"}]',
  values: '{"web":{"big":9007199254740993}}',
  configValues: '{"web":null}',
  idempotencyKey: 'key-1',
};

let root: string;
let servers: LoopbackServer[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'http-hooks-'));
  servers = [];
});

afterEach(async () => {
  for (const server of servers) await server.stop();
  rmSync(root, { recursive: true });
});

async function serve(
  respond: Respond,
  tls?: Parameters<typeof startLoopbackServer>[1],
): Promise<LoopbackServer> {
  const server = await startLoopbackServer(respond, tls);
  servers.push(server);
  return server;
}

async function load(hooks: HttpHooks, text: string, log = silentLogger): Promise<Hook> {
  const path = join(root, 'a.http.yaml');
  writeFileSync(path, text);
  await hooks.load(path, log);
  return {
    name: 'hooks/a.http.yaml',
    path,
    transport: 'http',
    owner: { type: 'module', module: 'web' as ModuleName },
    config: NO_BINDINGS,
  };
}

async function run(text: string, hooks = startHttpHooks()) {
  return hooks.run(await load(hooks, text), INPUTS, silentLogger, never);
}

/** Secrets by `name.key`, which may change. */
function secrets(texts: Record<string, string>) {
  const followed: string[] = [];
  const titleOf = ({ name, key }: SecretReference): string => `${name}.${key}`;
  return {
    followed,
    follow: async (references: readonly SecretReference[]) => {
      followed.push(...references.map(titleOf));
    },
    keepOnly: () => undefined,
    lookup: (reference: SecretReference) => {
      const text = texts[titleOf(reference)];
      return text === undefined
        ? ({ type: 'absent', why: 'no' } as const)
        : ({ type: 'known', text } as const);
    },
  };
}

test('run() posts contexts and values as they are, and returns the content of the response', async () => {
  const server = await serve((_request, response) =>
    responseJson(response, 200, { metrics: [{ name: 'm', set: 1 }] }),
  );
  const { outputs } = await run(`address: ${server.url}/a?b=c`);
  expect(outputs.metrics).toBe('{"name":"m","set":1}');
  const [request] = server.requests;
  expect(request).toMatchObject({ method: 'POST', path: '/a', query: { b: 'c' } });
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    accept: 'application/json',
    'idempotency-key': 'key-1',
    'user-agent': 'addon-operator/1.2.3',
  });
  expect(request?.body).toContain('"values":{"web":{"big":9007199254740993}}');
  expect(JSON.parse(request?.body ?? '')).toEqual({
    version: 'v1',
    runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    hook: 'hooks/a.http.yaml',
    module: 'web',
    contexts: [{ binding: 'onStartup' }],
    values: expect.anything(),
    configValues: { web: null },
  });
});

test('run() sends the span of the run in a header, and no such header while nothing is traced', async () => {
  const server = await serve((_request, response) => responseJson(response, 200, {}));
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const hooks = startHttpHooks();
  const hook = await load(hooks, `address: ${server.url}/a`);
  await hooks.run(hook, { ...INPUTS, traceparent }, silentLogger, never);
  await hooks.run(hook, INPUTS, silentLogger, never);
  expect(server.requests.map(({ headers }) => headers['traceparent'])).toEqual([traceparent, undefined]);
});

test.each<[string, Respond, string, string]>([
  [
    'refuses',
    (_request, response) => responseJson(response, 500, { message: 'no luck' }),
    'HOOK_FAILED',
    'it responded with status 500: no luck',
  ],
  [
    'redirects',
    (_request, response) => response.writeHead(307, { location: '/b' }).end(),
    'HOOK_FAILED',
    'it responded with a redirect to /b (status 307), which is not followed',
  ],
  [
    'talks garbage',
    (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    'HOOK_OUTPUT_INVALID',
    'its response is not valid JSON',
  ],
  ['hangs up', (_request, response) => response.destroy(), 'HOOK_FAILED', 'socket hang up'],
  [
    'breaks off',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"a"', () => response.destroy());
    },
    'HOOK_FAILED',
    'the connection was closed before the response was complete',
  ],
  [
    'compresses',
    (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x'),
    'HOOK_FAILED',
    'the response has the encoding gzip, which was not requested',
  ],
])('run() fails when the server %s', async (_what, respond, code, message) => {
  const server = await serve(respond);
  const failed = run(`address: ${server.url}/a?secret=x`);
  await expect(failed).rejects.toMatchObject({ code });
  const error: unknown = await failed.catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(`module hook 'hooks/a.http.yaml'`);
  expect(String(error)).toContain(`POST ${server.url}/a: ${message}`);
});

test('run() skips a byte order mark', async () => {
  const server = await serve((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('\uFEFF{"metrics":[]}'),
  );
  expect(await run(`address: ${server.url}/`)).toMatchObject({ outputs: { metrics: '' } });
});

test('run() sends no request beyond its limit, and says how to make it smaller', async () => {
  const server = await serve((_request, response) => response.end());
  const hooks = startHttpHooks();
  const hook = await load(hooks, `address: ${server.url}/`);
  const values = JSON.stringify('x'.repeat(64 * 1024 * 1024));
  await expect(hooks.run(hook, { ...INPUTS, values }, silentLogger, never)).rejects.toMatchObject({
    code: 'HOOK_FAILED',
    message: expect.stringContaining('larger than 67108864 bytes: use jqFilter with'),
  });
  expect(server.requests).toEqual([]);
});

test('run() says so when no server listens', async () => {
  const server = await serve((_request, response) => response.end());
  await server.stop();
  await expect(run(`address: ${server.url}/`)).rejects.toThrow(/failed: POST .*: connect ECONNREFUSED/);
});

test('run() stops reading a response without end, and keeps little of it', async () => {
  let sentBytes = 0;
  const chunk = Buffer.alloc(1024 * 1024, 0x20);
  const server = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) sentBytes += chunk.length;
    };
    response.on('drain', more);
    more();
  });
  await expect(run(`address: ${server.url}/`)).rejects.toThrow('the response is larger than 10485760 bytes');
  expect(sentBytes).toBeLessThan(64 * 1024 * 1024);
});

test.each([
  ['timeout in the file', 'timeout: 7s', 7_000, undefined],
  ['the limit of all hooks', '', 9_000, 9_000],
  ['30 seconds', '', 30_000, undefined],
])('run() ends after %s, also within the body', async (_what, line, limitMs, timeoutMs) => {
  const clock = new JumpClock();
  const server = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{');
  });
  const failed = run(`address: ${server.url}/\n${line}\n`, startHttpHooks({ clock, timeoutMs }));
  const passed = clock.passSleep(limitMs);
  await expect(failed).rejects.toMatchObject({
    code: 'HOOK_TIMEOUT',
    message: expect.stringContaining(`no response within ${limitMs / 1_000} s: POST ${server.url}/`),
  });
  await passed;
});

test('run() ends with the reason of an abort, and closes the connection', async () => {
  const stop = new AbortController();
  const closed = Promise.withResolvers<void>();
  const server = await serve((_request, response) => {
    response.once('close', () => closed.resolve());
    stop.abort(new Error('stopping'));
  });
  const hooks = startHttpHooks();
  const hook = await load(hooks, `address: ${server.url}/`);
  await expect(hooks.run(hook, INPUTS, silentLogger, stop.signal)).rejects.toThrow('stopping');
  await closed.promise;
});

test('run() sends nothing when the check says no, or a Secret is missing', async () => {
  const server = await serve((_request, response) => response.end());
  const check = (): void => {
    throw new Error('not now');
  };
  await expect(run(`address: ${server.url}/`, startHttpHooks({ check }))).rejects.toThrow('not now');
  const auth = 'auth: {bearerToken: {secretKeyRef: {name: t, key: k}}}';
  await expect(run(`address: ${server.url}/\n${auth}`)).rejects.toMatchObject({
    code: 'SECRET_MISSING',
    message: `module hook 'hooks/a.http.yaml' failed: key "k" of Secret ns/t does not exist: create it`,
  });
  const bad = startHttpHooks({ secrets: secrets({ 't.k': 'ge heim\r\nx: y' }) });
  await expect(run(`address: ${server.url}/\n${auth}`, bad)).rejects.toThrow(
    /is not a bearer token: it is empty, or has/,
  );
  expect(server.requests).toEqual([]);
});

test('run() sends the token that the Secret has now, and load() warns where it is sent in the open', async () => {
  const server = await serve((_request, response) => response.end());
  const texts = { 't.k': 'one\n' };
  const source = secrets(texts);
  const hooks = startHttpHooks({ secrets: source });
  const captured = new CapturedLog(new FakeClock());
  const text = `address: ${server.url}/\nauth: {bearerToken: {secretKeyRef: {name: t, key: k}}}`;
  const hook = await load(hooks, text, captured.logger);
  expect(captured.records).toMatchObject([{ level: 'warn', path: hook.path }]);
  await hooks.run(hook, INPUTS, silentLogger, never);
  texts['t.k'] = 'two';
  await hooks.run(hook, INPUTS, silentLogger, never);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two']);
  expect(source.followed).toEqual(['t.k', 't.k']);
});

test('run() trusts only the authority that is named, and shows the certificate it was given', async () => {
  const now = systemClock.wallMs();
  const period = { notBeforeMs: now - 3_600_000, notAfterMs: now + 3_600_000 };
  const authority = createAuthority({ commonName: 'tests', ...period });
  const other = createAuthority({ commonName: 'others', ...period });
  const serving = issueCertificate(authority, { commonName: 'server', ...period }, ['127.0.0.1']);
  const client = issueCertificate(authority, { commonName: 'operator', ...period }, ['operator']);
  const shown: unknown[] = [];
  const server = await serve(
    (_request, response) => {
      if (response.socket instanceof TLSSocket) shown.push(response.socket.getPeerCertificate().subject?.CN);
      response.end();
    },
    { ...serving, requestCert: true, rejectUnauthorized: false },
  );
  const texts: Record<string, string> = {
    'good.ca': authority.cert,
    'other.ca': other.cert,
    'none.ca': 'nothing',
    'c.tls.crt': client.cert,
    'c.tls.key': client.key,
    'd.tls.crt': client.cert,
    'd.tls.key': serving.key,
  };
  const attempt = (tls: string, address = server.url) =>
    run(`address: ${address}/\n${tls}`, startHttpHooks({ secrets: secrets(texts) }));
  const ca = (name: string): string => `ca: {secretKeyRef: {name: ${name}, key: ca}}`;
  await expect(attempt('')).rejects.toThrow(/; set tls\.ca to the authority of its certificate$/);
  await expect(attempt(`tls: {${ca('other')}}`)).rejects.toThrow('to the authority');
  await expect(attempt(`tls: {${ca('good')}}`, server.url.replace('127.0.0.1', 'localhost'))).rejects.toThrow(
    "does not match certificate's altnames",
  );
  await expect(attempt(`tls: {${ca('none')}}`)).rejects.toThrow(
    'key "ca" of Secret ns/none has no certificate in PEM',
  );
  await expect(attempt(`tls: {ca: {file: nowhere.pem}}`)).rejects.toThrow(
    'cannot read the file of tls.ca: ENOENT',
  );
  await expect(attempt(`tls: {${ca('good')}, clientCertificate: {secretRef: {name: d}}}`)).rejects.toThrow(
    'the files of tls cannot be used',
  );
  expect(shown).toEqual([]);
  await attempt(`tls: {${ca('good')}, clientCertificate: {secretRef: {name: c}}}`);
  writeFileSync(join(root, 'ca.pem'), authority.cert);
  await attempt('tls: {ca: {file: ca.pem}}');
  expect(shown).toEqual(['operator', undefined]);
});

test.each<[number, string | undefined, object]>([
  [503, '30', { code: 'HOOK_TEMPORARY', retryAfterMs: 30_000, facts: { status: 503 } }],
  [429, undefined, { code: 'HOOK_TEMPORARY', retryAfterMs: 10_000 }],
  [422, '30', { code: 'HOOK_PERMANENT', isPermanent: true, retryAfterMs: undefined }],
  [500, '30', { code: 'HOOK_FAILED', retryAfterMs: undefined }],
])(
  'with statusCodes, status %s with Retry-After %s says whether to retry',
  async (status, retryAfter, expected) => {
    const server = await serve((_request, response) => {
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      responseJson(response, status, { message: 'why' });
    });
    const hooks = startHttpHooks();
    const hook = await load(hooks, `address: ${server.url}/a`);
    const statusCodes = { temporary: [429, 503], permanent: [422] };
    const own = { ...hook, config: { ...NO_BINDINGS, settings: { statusCodes } } };
    const error = await hooks.run(own, INPUTS, silentLogger, never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(expected);
    expect(String(error)).toContain(`it responded with status ${status}: why`);
  },
);

test('without statusCodes, a status with Retry-After is a failure as every other', async () => {
  const server = await serve((_request, response) => {
    response.setHeader('retry-after', '30');
    responseJson(response, 503, {});
  });
  await expect(run(`address: ${server.url}/a`)).rejects.toMatchObject({
    code: 'HOOK_FAILED',
    retryAfterMs: undefined,
  });
});
