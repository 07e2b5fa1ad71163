import { systemClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { createAuthority, issueCertificate } from '@addon-operator/crypto/x509-certificate';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { afterEach, expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import {
  type LoopbackServer,
  type Respond,
  responseJson,
  startLoopbackServer,
} from '../../../test/support/loopback-server.ts';
import { AllowedHosts } from '../../hooks/http/allowed-hosts.ts';
import { NO_MANIFEST } from '../../modules/module-manifest.ts';
import { readReconcileWebhook } from '../../modules/reconcile-webhook.ts';
import type { ModuleName } from '../../values/module-key.ts';
import { WebhookSteps } from './webhook-steps.ts';

const never = new AbortController().signal;
const CHILD: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' } };
const servers: LoopbackServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(...[respond, tls]: Parameters<typeof startLoopbackServer>): Promise<LoopbackServer> {
  const server = await startLoopbackServer(respond, tls);
  servers.push(server);
  return server;
}

/** The hook of a module `web`, and what became of its status. */
class Lab {
  readonly reported: unknown[] = [];
  readonly warned: string[] = [];
  readonly log = new CapturedLog(new FakeClock());
  check: () => void = () => undefined;
  readonly hooks = new WebhookSteps({
    kube: { request: () => Promise.reject(new Error('there is no cluster')) },
    find: () => Promise.reject(new Error('there is no cluster')),
    namespace: 'ns',
    clock: systemClock,
    version: '1.2.3',
    check: () => this.check(),
    hosts: new AllowedHosts({ entries: ['localhost', '127.0.0.1'] }),
    log: this.log.logger,
    places: { check: async () => await Promise.resolve() },
    modules: {
      read: async (name) => ({
        kind: 'Module',
        metadata: { name, uid: 'u', managedFields: [{ manager: 'm' }] },
        status: { phase: 'Init' },
      }),
      report: async (_sent, status) => {
        this.reported.push(status);
      },
      warn: async (module, message) => {
        this.warned.push(`${module}: ${message}`);
      },
    },
  });

  /** The objects that would be applied in place of one ConfigMap. */
  async preReconcile(uri: string, signal = never): Promise<readonly KubeObject[]> {
    const hook = readReconcileWebhook(
      { version: 'v1', address: { uri }, capabilities: ['pre-reconcile'] },
      [],
    );
    const steps = this.hooks.stepsOf({ name: 'web' as ModuleName, manifest: { ...NO_MANIFEST, hook } });
    if (steps === undefined) throw new Error('there are no steps');
    return await steps.transform([CHILD], signal);
  }
}

const responding =
  (body: unknown, status = 200): Respond =>
  (_request, response) =>
    responseJson(response, status, body);

test('stepsOf() is undefined for modules whose server is not called before', () => {
  const { hooks } = new Lab();
  const hook = readReconcileWebhook(
    { version: 'v1', address: { uri: 'http://web' }, capabilities: ['finalize'] },
    [],
  );
  const name = 'web' as ModuleName;
  expect(hooks.stepsOf({ name, manifest: NO_MANIFEST })).toBeUndefined();
  expect(hooks.stepsOf({ name, manifest: { ...NO_MANIFEST, hook } })).toBeUndefined();
});

test('who reads that finalizing has failed learns how to do without the server', async () => {
  const server = await serve(responding({ message: 'busy', permanent: true }, 500));
  const hook = readReconcileWebhook(
    { version: 'v1', address: { uri: server.url }, capabilities: ['finalize'] },
    [],
  );
  if (hook === undefined) throw new Error('there is no hook');
  await expect(new Lab().hooks.finalize('web', hook, [], never)).rejects.toMatchObject({
    isPermanent: true,
    message: expect.stringMatching(
      /busy\n.*nothing is deleted until it agrees.*addon-operator module release-finalizer web\)$/,
    ),
  });
});

test('the server gets the module and its objects, and its response is used', async () => {
  const child = { ...CHILD, data: { by: 'server' } };
  const server = await serve(responding({ object: { status: { host: 'a' } }, children: { child } }));
  const lab = new Lab();
  expect(await lab.preReconcile(`${server.url}/v1?a=b`)).toEqual([child]);
  expect(lab.reported).toEqual([{ host: 'a' }]);
  expect(server.requests).toMatchObject([
    { method: 'POST', path: '/v1', query: { a: 'b' }, headers: { 'user-agent': 'addon-operator/1.2.3' } },
  ]);
  expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
    formFactor: 'deployment',
    phase: 'pre-reconcile',
    object: { kind: 'Module', metadata: { name: 'web', uid: 'u' }, status: { phase: 'Init' } },
    children: { 'ConfigMap/web': CHILD },
  });
});

test('a response that is invalid in one part has no effect in any', async () => {
  const server = await serve(responding({ object: { status: { host: 'a' } }, children: { child: 1 } }));
  const lab = new Lab();
  await expect(lab.preReconcile(server.url)).rejects.toMatchObject({
    code: 'HOOK_OUTPUT_INVALID',
    isPermanent: false,
    message: `reconcile webhook of module 'web', pre-reconcile, POST ${server.url}/: children in its response cannot be applied: "child" is not an object`,
  });
  expect(lab.reported).toEqual([]);
});

test.each([
  [{}, false],
  [{ permanent: true }, true],
])('a refusal with %j ends the run, and says whether another try makes sense', async (more, isPermanent) => {
  const server = await serve(responding({ message: 'no', ...more }, 422));
  await expect(new Lab().preReconcile(`${server.url}?token=x`)).rejects.toMatchObject({
    code: 'HOOK_FAILED',
    isPermanent,
    facts: { status: 422 },
    message: `reconcile webhook of module 'web', pre-reconcile failed: POST ${server.url}/: it responded with status 422: no`,
  });
});

test('a refusal that lets the module continue leaves the objects as they are, and is logged', async () => {
  const server = await serve(responding({ message: 'no', continue: true, permanent: true }, 500));
  const lab = new Lab();
  expect(await lab.preReconcile(server.url)).toEqual([CHILD]);
  expect(lab.log.records).toContainEqual(expect.objectContaining({ level: 'warn', module: 'web' }));
  expect(lab.warned).toEqual(['web: pre-reconcile: it responded with status 500: no']);
});

test('a server with an untrusted certificate receives no request', async () => {
  const nowMs = systemClock.wallMs();
  const period = { notBeforeMs: nowMs - 3_600_000, notAfterMs: nowMs + 3_600_000 };
  const authority = createAuthority({ commonName: 'tests', ...period });
  const serving = issueCertificate(authority, { commonName: 'server', ...period }, ['127.0.0.1']);
  const server = await serve(responding({}), serving);
  await expect(new Lab().preReconcile(server.url)).rejects.toThrow(/certificate.*NODE_EXTRA_CA_CERTS/s);
  expect(server.requests).toEqual([]);
});

test('nothing is sent when the operator must not act any more', async () => {
  const server = await serve(responding({}));
  const lab = new Lab();
  lab.check = () => {
    throw new OperatorError('LEASE_LOST', 'not the leader');
  };
  await expect(lab.preReconcile(server.url)).rejects.toMatchObject({ code: 'LEASE_LOST' });
  expect(server.requests).toEqual([]);
});

test('an abort ends the wait for a response with its reason', async () => {
  const stop = new AbortController();
  const server = await serve(() => stop.abort(new Error('enough')));
  await expect(new Lab().preReconcile(server.url, stop.signal)).rejects.toThrow('enough');
});

test.each<[string, Respond]>([
  [
    'is compressed',
    (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from([0x1f])),
  ],
  ['is no JSON', (_request, response) => response.writeHead(200).end('{')],
  [
    'breaks off',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{', () => response.destroy());
    },
  ],
])('finalize() succeeds by the status alone, when the body %s', async (_what, respond) => {
  const server = await serve(respond);
  const hook = readReconcileWebhook(
    { version: 'v1', address: { uri: server.url }, capabilities: ['finalize'] },
    [],
  );
  if (hook === undefined) throw new Error('the webhook is invalid');
  await expect(new Lab().hooks.finalize('web', hook, [], never)).resolves.toBeUndefined();
});

test('a body may begin with a byte order mark', async () => {
  const body = `\uFEFF${JSON.stringify({ object: { status: { host: 'a' } } })}`;
  const server = await serve((_request, response) => response.writeHead(200).end(body));
  const lab = new Lab();
  await lab.preReconcile(server.url);
  expect(lab.reported).toEqual([{ host: 'a' }]);
});

test('a redirect names the file in which the address is set', async () => {
  const server = await serve((_request, response) => response.writeHead(301, { location: '/b' }).end());
  await expect(new Lab().preReconcile(server.url)).rejects.toThrow('set the final address in module.yaml');
});
