import { Buffer } from 'node:buffer';
import { isObject } from '@addon-operator/json';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { encodeRelease } from './release-record.ts';
import { ReleaseStore } from './release-store.ts';

const signal = new AbortController().signal;
const COLLECTION = '/api/v1/namespaces/ops/secrets';

/** Holds release Secrets as the API server does, as far as the store asks for them. */
class SecretServer implements KubeClient {
  readonly secrets = new Map<string, Record<string, unknown>>();
  readonly requests: KubeRequest[] = [];
  readonly pageSize: number;

  constructor(pageSize = 500) {
    this.pageSize = pageSize;
  }

  async add(release: string, revision: number, status: string, encoded?: string): Promise<void> {
    const name = `sh.helm.release.v1.${release}.v${revision}`;
    const packed =
      encoded ?? (await encodeRelease({ name: release, info: { status }, manifest: `m${revision}` }));
    this.secrets.set(`${COLLECTION}/${name}`, {
      metadata: {
        name,
        uid: `uid-${name}`,
        resourceVersion: '7',
        creationTimestamp: '2026-01-01T00:00:10Z',
        labels: { owner: 'helm', name: release, version: String(revision), status },
      },
      data: { release: Buffer.from(packed).toString('base64') },
    });
  }

  async request(request: KubeRequest): Promise<unknown> {
    this.requests.push(request);
    const { method, path, query, body } = request;
    if (path === COLLECTION) return await Promise.resolve(this.#list(query ?? {}));
    const secret = this.secrets.get(path);
    if (secret === undefined) throw new KubeApiError('not found', { status: 404, reason: 'NotFound' });
    if (method === 'PUT' && isObject(body)) this.secrets.set(path, body);
    return method === 'PUT' ? body : secret;
  }

  #list(query: Readonly<Record<string, string | undefined>>): unknown {
    const name = /name=([^,]+)/.exec(query['labelSelector'] ?? '')?.[1];
    const all = [...this.secrets.values()].filter((secret) => {
      const metadata = isObject(secret['metadata']) ? secret['metadata'] : {};
      return name === undefined || (isObject(metadata['labels']) && metadata['labels']['name'] === name);
    });
    const start = Number(query['continue'] ?? '0');
    const end = start + this.pageSize;
    return { items: all.slice(start, end), metadata: end < all.length ? { continue: String(end) } : {} };
  }

  stream(): Promise<AsyncIterable<string>> {
    return Promise.reject(new Error('not used'));
  }
}

function storeOf(kube: KubeClient): ReleaseStore {
  return new ReleaseStore({ kube, namespace: 'ops', storageDriver: 'secret' });
}

test('latest() compares revisions as numbers, over all pages', async () => {
  const server = new SecretServer(2);
  for (const revision of [8, 10, 9]) await server.add('web', revision, 'superseded');
  await server.add('other', 11, 'deployed');
  expect(await storeOf(server).latest('web', signal)).toMatchObject({
    revision: 10,
    status: 'superseded',
  });
});

test('latest() is undefined without a release', async () => {
  expect(await storeOf(new SecretServer()).latest('web', signal)).toBeUndefined();
});

test('latest() reads a known revision by name, and lists again once it has a successor or is gone', async () => {
  const server = new SecretServer();
  const store = storeOf(server);
  await server.add('web', 1, 'deployed');
  await store.latest('web', signal);
  server.requests.length = 0;
  expect(await store.latest('web', signal)).toMatchObject({ revision: 1 });
  expect(server.requests.map(({ path }) => path)).not.toContain(COLLECTION);
  await server.add('web', 2, 'pending-upgrade');
  expect(await store.latest('web', signal)).toMatchObject({ revision: 2, status: 'pending-upgrade' });
  server.secrets.clear();
  expect(await store.latest('web', signal)).toBeUndefined();
});

test('latestOfAll() has the newest revision of each release, by name', async () => {
  const server = new SecretServer();
  await server.add('web', 1, 'superseded');
  await server.add('web', 2, 'deployed');
  await server.add('api', 1, 'failed');
  const latest = await storeOf(server).latestOfAll(signal);
  expect(latest.map(({ release, revision }) => `${release} ${revision}`)).toEqual(['api 1', 'web 2']);
});

test('payload() reads an unchanged record once', async () => {
  const server = new SecretServer();
  const store = storeOf(server);
  await server.add('web', 1, 'deployed');
  const latest = await store.latest('web', signal);
  if (latest === undefined) throw new Error('no release');
  expect((await store.payload(latest, signal)).manifest).toBe('m1');
  server.requests.length = 0;
  expect((await store.payload(latest, signal)).manifest).toBe('m1');
  expect(server.requests).toEqual([]);
});

test('payload() names a corrupt record', async () => {
  const server = new SecretServer();
  const store = storeOf(server);
  await server.add('web', 1, 'deployed', 'garbage');
  const latest = await store.latest('web', signal);
  if (latest === undefined) throw new Error('no release');
  await expect(store.payload(latest, signal)).rejects.toMatchObject({
    code: 'HELM_RELEASE_CORRUPT',
    message: expect.stringContaining('sh.helm.release.v1.web.v1'),
  });
});

test('markFailed() changes label and record of what it has seen, and keeps the rest', async () => {
  const server = new SecretServer();
  const store = storeOf(server);
  await server.add('web', 1, 'pending-install');
  const latest = await store.latest('web', signal);
  if (latest === undefined) throw new Error('no release');
  await store.markFailed(latest, 90_000, signal);
  const put = server.requests.at(-1);
  expect(put).toMatchObject({
    method: 'PUT',
    body: {
      metadata: { resourceVersion: '7', labels: { owner: 'helm', status: 'failed', modifiedAt: '90' } },
    },
  });
  const failed = await store.latest('web', signal);
  expect(failed?.status).toBe('failed');
});

test('setMetadata() returns undefined without such a record', async () => {
  expect(
    await storeOf(new SecretServer()).setMetadata('web', 1, { labels: { a: 'b' } }, signal),
  ).toBeUndefined();
});
