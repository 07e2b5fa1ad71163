import { createHash } from 'node:crypto';
import { OperatorError } from '@addon-operator/base/errors';
import { machineClock, type Sandbox, silentLog, startSandbox } from '@addon-operator/kube-sandbox';
import { MemoryClient } from '@addon-operator/kube-sandbox/memory-client';
import type { Descriptor, Repository } from '@addon-operator/oci/repository';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_BACKUP_BYTES, SecretBackup } from './content-backup.ts';
import { HistoryStore } from './history-store.ts';
import { NEW_INSTALL } from './install-state.ts';
import { readReference } from './secrets.ts';
import { createStateStore } from './state-store.ts';

const signal = new AbortController().signal;
let sandbox: Sandbox;
let kube: MemoryClient;

beforeAll(async () => {
  sandbox = await startSandbox({ clock: machineClock, log: silentLog }, signal);
  kube = new MemoryClient(sandbox, { touch: () => undefined, begin: () => () => undefined }, 'test');
});

afterAll(async () => {
  await sandbox.stop();
});

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** A repository with one manifest of a config and a layer. */
function repositoryWith(layer: Uint8Array) {
  const config = Buffer.from('{}');
  const blobs = new Map([config, layer].map((bytes) => [digestOf(bytes), bytes]));
  const describe = (bytes: Uint8Array): Descriptor => ({
    mediaType: 'x',
    digest: digestOf(bytes),
    size: bytes.length,
  });
  const bytes = Buffer.from(JSON.stringify({ config: describe(config), layers: [describe(layer)] }));
  const descriptor = { ...describe(bytes), mediaType: 'manifest' };
  const repository: Repository = {
    url: 'oci://lab/web',
    resolve: async () => await Promise.resolve(descriptor),
    manifest: async () => await Promise.resolve({ descriptor, bytes }),
    blob: async function* blob({ digest }) {
      yield await Promise.resolve(blobs.get(digest) ?? Buffer.alloc(0));
    },
    tags: async () => await Promise.resolve([]),
    referrers: async () => await Promise.resolve([]),
  };
  return { repository, digest: descriptor.digest, layer: describe(layer) };
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

test('the state of modules survives, one entry for each', async () => {
  const store = createStateStore(kube, { namespace: 'default', name: 'op-delivery' });
  expect(await store.load(signal)).toEqual(new Map());
  const state = { ...NEW_INSTALL, entry: '030-web' };
  await Promise.all([store.save('web', NEW_INSTALL, signal), store.save('web', state, signal)]);
  await store.save('db', NEW_INSTALL, signal);
  expect((await store.load(signal)).get('web')).toEqual(state);
  await store.save('db', undefined, signal);
  expect([...(await store.load(signal)).keys()]).toEqual(['web']);
});

test('a backup is read as the repository was', async () => {
  const layer = Buffer.alloc(100_000, 7);
  const { repository, digest, layer: descriptor } = repositoryWith(layer);
  await new SecretBackup(kube, 'default', 'op').save(repository, digest, signal);
  const kept = await new SecretBackup(kube, 'default', 'op').open(digest, signal);
  expect((await kept?.resolve(digest, signal))?.mediaType).toBe('manifest');
  expect(await kept?.resolve('stable', signal)).toBeUndefined();
  expect(kept && (await bytesOf(kept.blob(descriptor, signal)))).toEqual(layer);
});

test('content beyond 900 KiB has no backup', async () => {
  const { repository, digest } = repositoryWith(Buffer.alloc(MAX_BACKUP_BYTES));
  const backup = new SecretBackup(kube, 'default', 'op');
  await backup.save(repository, digest, signal);
  expect(await backup.open(digest, signal)).toBeUndefined();
});

test('a backup with other bytes than its digest is refused', async () => {
  const { repository, digest, layer } = repositoryWith(Buffer.from('good'));
  const backup = new SecretBackup(kube, 'default', 'op');
  await backup.save(repository, digest, signal);
  const path = `/api/v1/namespaces/default/secrets/op-content-${digest.slice(7, 19)}`;
  const data = { [layer.digest.slice(7)]: Buffer.from('evil').toString('base64') };
  await kube.request(
    { method: 'PATCH', path, contentType: 'application/merge-patch+json', body: { data } },
    signal,
  );
  const kept = await backup.open(digest, signal);
  await expect(kept && bytesOf(kept.blob(layer, signal))).rejects.toThrow('has other bytes than');
});

test('backups that are not needed any more are removed', async () => {
  const [one, two] = [repositoryWith(Buffer.from('1')), repositoryWith(Buffer.from('2'))];
  const backup = new SecretBackup(kube, 'default', 'op');
  for (const { repository, digest } of [one, two]) await backup.save(repository, digest, signal);
  await backup.collect(new Set([two.digest]), signal);
  expect(await backup.open(one.digest, signal)).toBeUndefined();
  expect(await backup.open(two.digest, signal)).toBeDefined();
  await backup.save(one.repository, one.digest, signal);
  expect(await backup.open(one.digest, signal)).toBeDefined();
});

test('the history has ten versions, with the sections of those that were good', async () => {
  const history = new HistoryStore(kube, 'default', 'op');
  await history.load(signal);
  for (let index = 0; index < 12; index += 1) {
    const entry = { version: `1.0.${index}`, digest: `sha256:${index}`, atMs: index };
    await history.begin('web', entry, { outcome: 'replaced' }, signal);
    await history.keepSection('web', `replicas: ${index}`, signal);
  }
  const read = new HistoryStore(kube, 'default', 'op');
  await read.load(signal);
  expect(
    read
      .entries('web')
      .map(({ version, outcome }) => `${version} ${outcome}`)
      .slice(0, 2),
  ).toEqual(['1.0.11 running', '1.0.10 replaced']);
  expect(read.entries('web')).toHaveLength(10);
  expect(read.section('web', 'sha256:5')).toBe('replicas: 5');
  expect(read.section('web', 'sha256:1')).toBeUndefined();
  await read.remove('web', signal);
  expect(read.entries('web')).toEqual([]);
});

test('a module may have a long name', async () => {
  const name = `${'long-'.repeat(39)}name`;
  const history = new HistoryStore(kube, 'default', 'op');
  const entry = { version: '1.0.0', digest: 'sha256:1', atMs: 0 };
  await history.begin(name, entry, { outcome: 'replaced' }, signal);
  const read = new HistoryStore(kube, 'default', 'op');
  await read.load(signal);
  expect(read.entries(name)).toHaveLength(1);
});

test('a section beyond 64 KiB is not kept', async () => {
  const history = new HistoryStore(kube, 'default', 'op');
  await history.begin(
    'big',
    { version: '1.0.0', digest: 'sha256:1', atMs: 0 },
    { outcome: 'replaced' },
    signal,
  );
  await history.keepSection('big', 'x'.repeat(64 * 1_024 + 1), signal);
  expect(history.entries('big')[0]?.hasValues).toBe(false);
});

test('readReference() reads ConfigMaps and Secrets, and names what is missing', async () => {
  const create = (plural: string, kind: string, data: Record<string, string>) =>
    kube.request(
      {
        method: 'POST',
        path: `/api/v1/namespaces/default/${plural}`,
        body: { apiVersion: 'v1', kind, metadata: { name: 'keys' }, data },
      },
      signal,
    );
  await create('configmaps', 'ConfigMap', { 'cosign.pub': 'PEM', other: '' });
  await create('secrets', 'Secret', { ca: Buffer.from('CA').toString('base64') });
  const read = (ref: Parameters<typeof readReference>[2]) => readReference(kube, 'default', ref, signal);
  expect(await read({ configMapRef: { name: 'keys', key: 'cosign.pub' } })).toBe('PEM');
  expect(await read({ secretRef: { name: 'keys' } })).toBe('CA');
  await expect(read({ configMapRef: { name: 'keys' } })).rejects.toThrow(
    'ConfigMap default/keys has 2 keys: name one',
  );
  await expect(read({ secretRef: { name: 'keys', key: 'x' } })).rejects.toThrow(
    'Secret default/keys has no key x',
  );
  await expect(read({ secretRef: { name: 'none' } })).rejects.toThrow(OperatorError);
});
