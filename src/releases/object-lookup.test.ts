import { OperatorError } from '@addon-operator/base/errors';
import type { ManifestObject } from '@addon-operator/helm/manifest-object';
import type { LookupOptions } from '@addon-operator/helm/object-lookup';
import { firstAbsent } from '@addon-operator/helm/object-presence';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { objectsOfOtherReleases } from './conflicts.ts';

const signal = new AbortController().signal;
const labels = { heritage: 'addon-operator' };

interface Stored {
  readonly path: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An API server that holds these objects, and notes what it was asked and how much at once. */
class ObjectServer implements KubeClient {
  readonly asked: string[] = [];
  mostAtOnce = 0;
  #atOnce = 0;
  readonly #objects: readonly Stored[];

  constructor(objects: readonly Stored[]) {
    this.#objects = objects;
  }

  async request({ path, query }: KubeRequest): Promise<unknown> {
    this.asked.push(path);
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    await Promise.resolve();
    this.#atOnce -= 1;
    if (query?.['labelSelector'] !== undefined) {
      const items = this.#objects.filter(
        (object) => object.path.startsWith(`${path}/`) && object.labels !== undefined,
      );
      return { items: items.map(toObject) };
    }
    const found = this.#objects.find((object) => object.path === path);
    if (found === undefined) throw new KubeApiError('not found', { status: 404, reason: 'NotFound' });
    return toObject(found);
  }

  stream(): Promise<AsyncIterable<string>> {
    return Promise.reject(new Error('not used'));
  }
}

function toObject({ path, ...metadata }: Stored): unknown {
  return { metadata: { name: path.split('/').at(-1), ...metadata } };
}

function options(kube: KubeClient): LookupOptions {
  return {
    kube,
    namespace: 'ops',
    find: async (apiVersion, kind) => {
      if (apiVersion !== 'v1') throw new OperatorError('KUBE_KIND_UNKNOWN', kind);
      const isNamespaced = kind !== 'Node';
      const plural = `${kind.toLowerCase()}s`;
      return await Promise.resolve({
        group: '',
        version: 'v1',
        kind,
        plural,
        singular: '',
        shortNames: [],
        isNamespaced,
        verbs: [],
      });
    },
  };
}

function object(kind: string, name: string, namespace = '', apiVersion = 'v1'): ManifestObject {
  return { apiVersion, kind, name, namespace };
}

test('firstAbsent() finds nothing missing, in the namespaces the manifest means', async () => {
  const server = new ObjectServer([
    { path: '/api/v1/namespaces/ops/configmaps/a', labels },
    { path: '/api/v1/namespaces/other/configmaps/b', labels },
    { path: '/api/v1/nodes/n', labels },
  ]);
  const objects = [
    object('ConfigMap', 'a'),
    object('ConfigMap', 'b', 'other'),
    object('Node', 'n', 'ignored'),
  ];
  expect(await firstAbsent(objects, labels, options(server), signal)).toBeUndefined();
});

test.each([
  ['does not exist', []],
  ['has lost our label', [{ path: '/api/v1/namespaces/ops/configmaps/a', labels: { app: 'a' } }]],
])('firstAbsent() reports an object that %s', async (_case, stored) => {
  const missing = object('ConfigMap', 'a');
  expect(await firstAbsent([missing], labels, options(new ObjectServer(stored)), signal)).toBe(missing);
});

test('firstAbsent() counts a kind unknown to the server as absent', async () => {
  const custom = object('Custom', 'c', '', 'example.com/v1');
  expect(await firstAbsent([custom], labels, options(new ObjectServer([])), signal)).toBe(custom);
});

test('firstAbsent() reports the first missing object in the order of the manifest', async () => {
  const objects = [object('Secret', 's'), object('ConfigMap', 'a'), object('ConfigMap', 'b')];
  const server = new ObjectServer([{ path: '/api/v1/namespaces/ops/secrets/s', labels }]);
  expect(await firstAbsent(objects, labels, options(server), signal)).toBe(objects[1]);
});

test('firstAbsent() lists a kind with many objects once', async () => {
  const objects = Array.from({ length: 20 }, (_, index) => object('ConfigMap', `c${index}`));
  const stored = objects.map(({ name }) => ({ path: `/api/v1/namespaces/ops/configmaps/${name}`, labels }));
  const server = new ObjectServer(stored.slice(0, 19));
  expect(await firstAbsent(objects, labels, options(server), signal)).toBe(objects[19]);
  expect(server.asked).toEqual(['/api/v1/namespaces/ops/configmaps']);
});

test('firstAbsent() reads by name what it may not list', async () => {
  const objects = Array.from({ length: 6 }, (_, index) => object('ConfigMap', `c${index}`));
  const stored = objects.map(({ name }) => ({ path: `/api/v1/namespaces/ops/configmaps/${name}`, labels }));
  const server = new ObjectServer(stored.slice(0, 5));
  const kube: KubeClient = {
    stream: () => server.stream(),
    request: async (request) => {
      if (request.query !== undefined)
        throw new KubeApiError('configmaps is forbidden', { status: 403, reason: 'Forbidden' });
      return await server.request(request);
    },
  };
  expect(await firstAbsent(objects, labels, options(kube), signal)).toBe(objects[5]);
});

test('firstAbsent() takes lists of others, and looks again for what is missing in them', async () => {
  const path = '/api/v1/namespaces/ops/configmaps';
  const server = new ObjectServer([{ path: `${path}/new`, labels }]);
  const lists = { names: async () => new Set(['old']) };
  const objects = [object('ConfigMap', 'old'), object('ConfigMap', 'new')];
  expect(await firstAbsent(objects, labels, { ...options(server), lists }, signal)).toBeUndefined();
  expect(server.asked).toEqual([`${path}/new`]);
});

test('firstAbsent() has at most five reads under way', async () => {
  const objects = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => object('ConfigMap', 'x', name));
  const server = new ObjectServer([]);
  await firstAbsent(objects, labels, options(server), signal);
  expect(server.mostAtOnce).toBe(5);
});

test('objectsOfOtherReleases() finds objects of other releases, but not ours and unowned ones', async () => {
  const owned = (name: string, release: string, namespace: string): Stored => ({
    path: `/api/v1/namespaces/ops/configmaps/${name}`,
    annotations: { 'meta.helm.sh/release-name': release, 'meta.helm.sh/release-namespace': namespace },
  });
  const server = new ObjectServer([
    owned('mine', 'web', 'ops'),
    owned('theirs', 'other', 'ops'),
    owned('namesake', 'web', 'elsewhere'),
    { path: '/api/v1/namespaces/ops/configmaps/free' },
  ]);
  const objects = ['mine', 'theirs', 'namesake', 'free', 'absent'].map((name) => object('ConfigMap', name));
  const foreign = await objectsOfOtherReleases(objects, 'web', options(server), signal);
  expect(foreign.map((found) => [found.object.name, found.owner])).toEqual([
    ['theirs', 'ops/other'],
    ['namesake', 'elsewhere/web'],
  ]);
});
