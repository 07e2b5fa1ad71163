import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '@addon-operator/json';
import { load } from 'js-yaml';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listAt, stringAt, valueAt } from './json-access.ts';
import { type ObjectChange, type Sandbox, startSandbox } from './sandbox.ts';
import { machineClock } from './sandbox-clock.ts';
import { silentLog } from './sandbox-log.ts';

const options = { clock: machineClock, log: silentLog };
const never = new AbortController().signal;
const started: Sandbox[] = [];
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-state-'));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
  await rm(directory, { recursive: true, force: true });
});

async function start(extra: object = {}, signal: AbortSignal = never): Promise<Sandbox> {
  const sandbox = await startSandbox({ ...options, ...extra }, signal);
  started.push(sandbox);
  return sandbox;
}

async function get(sandbox: Sandbox, path: string): Promise<unknown> {
  return (await fetch(`${sandbox.url}${path}`)).json();
}

async function create(sandbox: Sandbox, name: string): Promise<unknown> {
  const body = JSON.stringify({ metadata: { name } });
  const headers = { 'content-type': 'application/json' };
  return (
    await fetch(`${sandbox.url}/api/v1/namespaces/default/configmaps`, { method: 'POST', headers, body })
  ).json();
}

const WIDGETS = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

test('a new cluster has its namespaces, and what is in each', async () => {
  const sandbox = await start();
  const namespaces = listAt(await get(sandbox, '/api/v1/namespaces'), 'items').map((item) =>
    stringAt(item, 'metadata', 'name'),
  );
  expect(namespaces).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
  expect(await get(sandbox, '/api/v1/namespaces/default/services/kubernetes')).toMatchObject({
    spec: { clusterIP: '10.96.0.1' },
  });
  expect(await get(sandbox, '/api/v1/namespaces/kube-system/serviceaccounts/default')).toMatchObject({
    kind: 'ServiceAccount',
  });
});

test('the kubeconfig names the server and no credentials', async () => {
  const sandbox = await start();
  const config = load(sandbox.kubeconfig);
  expect(valueAt(config, 'clusters', 0, 'cluster')).toEqual({ server: sandbox.url });
  expect(valueAt(config, 'users', 0, 'user')).toEqual({});
  expect(valueAt(config, 'current-context')).toBe(valueAt(config, 'contexts', 0, 'name'));
});

test('the state of a directory comes back, revisions go on, older ones have expired', async () => {
  const first = await start({ directory });
  const created = await create(first, 'a');
  await first.stop();

  const second = await start({ directory });

  expect(await get(second, '/api/v1/namespaces/default/configmaps/a')).toEqual(created);
  const revision = Number(valueAt(await create(second, 'b'), 'metadata', 'resourceVersion'));
  expect(revision).toBeGreaterThan(Number(valueAt(created, 'metadata', 'resourceVersion')));
  const response = await fetch(`${second.url}/api/v1/configmaps?watch=true&resourceVersion=1`);
  expect(await response.json()).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
});

test('CRDs of an earlier run are served again', async () => {
  const first = await start({ directory });
  const headers = { 'content-type': 'application/json' };
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await fetch(`${first.url}${path}`, { method: 'POST', headers, body: JSON.stringify(WIDGETS) });
  await first.stop();
  expect(await get(await start({ directory }), '/apis/example.com/v1/widgets')).toMatchObject({
    kind: 'WidgetList',
  });
});

test('an object of 9,990 levels comes back with the state of a directory', async () => {
  const first = await start({ directory });
  const definitions = `${first.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
  const send = (url: string, body: string) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  await send(definitions, JSON.stringify(WIDGETS));
  const spec = `${'{"a":'.repeat(9_990)}12345678901234567890${'}'.repeat(9_990)}`;
  const widget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"deep"},"spec":${spec}}`;
  expect((await send(`${first.url}/apis/example.com/v1/widgets`, widget)).status).toBe(201);
  await first.stop();
  const second = await start({ directory });
  const restored = await fetch(`${second.url}/apis/example.com/v1/widgets/deep`);
  expect((await restored.text()).includes(`"spec":${spec}`)).toBe(true);
});

test('without a directory nothing is kept', async () => {
  const first = await start();
  await create(first, 'a');
  await first.stop();
  expect((await fetch(`${(await start()).url}/api/v1/namespaces/default/configmaps/a`)).status).toBe(404);
});

test('one directory serves one sandbox at a time, and a failed start lets it go', async () => {
  const first = await start({ directory });
  await expect(start({ directory })).rejects.toThrow('another sandbox has it open');
  const port = Number(new URL(first.url).port);
  await first.stop();
  const other = await start();
  await expect(start({ directory, port: Number(new URL(other.url).port) })).rejects.toThrow(
    'Cannot serve the sandbox API',
  );
  const again = await start({ directory, port });
  expect(again.url).toBe(first.url);
});

test('an aborted signal stops the sandbox; one aborted before starts none', async () => {
  const stop = new AbortController();
  const sandbox = await start({ directory }, stop.signal);
  stop.abort();
  await sandbox.stop();
  await expect(fetch(sandbox.url)).rejects.toThrow('fetch failed');
  await expect(startSandbox(options, stop.signal)).rejects.toThrow(/abort/i);
});

test('responses are JSON objects with the version that clients parse', async () => {
  const version = await get(await start(), '/version');
  expect(isObject(version) && version['gitVersion']).toMatch(/^v1\.34\.\d+/);
});

test('requests of the same process need no HTTP, and changes name the client that made them', async () => {
  const changes: unknown[] = [];
  const onChange = ({ type, object, userAgent }: ObjectChange): number =>
    changes.push([type, object.metadata.name, userAgent]);
  const sandbox = await start({ onChange });
  const request = { query: new URLSearchParams(), accept: '', ifNoneMatch: '', userAgent: 'here' };
  const path = '/api/v1/namespaces';
  const body = Buffer.from(JSON.stringify({ metadata: { name: 'a' } }));
  const answer = sandbox.handle({ ...request, method: 'POST', path, contentType: 'application/json', body });
  expect(answer).toMatchObject({ type: 'body', status: 201 });
  expect(changes).toContainEqual(['added', 'a', 'here']);
  const account = '/api/v1/namespaces/a/serviceaccounts/default';
  while ((await fetch(`${sandbox.url}${account}`)).status === 404);
  expect(changes).toContainEqual(['added', 'default', undefined]);
});

test('a reset sandbox is like a new one at the same address, and its watches have ended', async () => {
  const sandbox = await start();
  await create(sandbox, 'a');
  const watch = await fetch(`${sandbox.url}/api/v1/namespaces/default/configmaps?watch=true`);
  sandbox.reset();
  expect(await watch.text()).toContain('"name":"a"');
  expect((await fetch(`${sandbox.url}/api/v1/namespaces/default/configmaps/a`)).status).toBe(404);
  expect(await create(sandbox, 'a')).toMatchObject({ kind: 'ConfigMap' });
  const kept = await start({ directory });
  expect(() => kept.reset()).toThrow('cannot be reset');
});

test('a sandbox goes back to an earlier state as often as wanted, with nothing of what came after it', async () => {
  const sandbox = await start();
  const path = '/api/v1/namespaces/default/configmaps';
  const names = async (): Promise<readonly string[]> => {
    const { items } = (await (await fetch(`${sandbox.url}${path}`)).json()) as {
      items: { metadata: { name: string } }[];
    };
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  };
  const before = await create(sandbox, 'a');
  const state = sandbox.snapshot();
  for (const name of ['b', 'c']) {
    await create(sandbox, name);
    await fetch(`${sandbox.url}${path}/a`, { method: 'DELETE' });
    expect(await names()).toEqual([name]);
    sandbox.reset(state);
    expect(await names()).toEqual(['a']);
    expect(await (await fetch(`${sandbox.url}${path}/a`)).json()).toEqual(before);
  }
  const { metadata } = (await create(sandbox, 'd')) as { metadata: { resourceVersion: string } };
  expect(Number(metadata.resourceVersion)).toBeGreaterThan(state.revision);
});
