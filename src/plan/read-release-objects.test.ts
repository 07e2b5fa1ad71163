import { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { readReleaseObjects } from './read-release-objects.ts';

const HOUR_MS = 3_600_000;
const never = new AbortController().signal;

const manifestOf = (
  ...objects: readonly (readonly [apiVersion: string, kind: string, name: string, namespace?: string])[]
) =>
  objects
    .map(
      ([apiVersion, kind, name, namespace]) =>
        `---\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}${namespace === undefined ? '' : `, namespace: ${namespace}`}}\n`,
    )
    .join('');

async function find(apiVersion: string, kind: string): Promise<ApiResource> {
  if (kind === 'Gone') throw new OperatorError('KUBE_KIND_UNKNOWN', 'Gone is not served');
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const plural = `${kind.toLowerCase()}s`;
  const isNamespaced = !kind.startsWith('Cluster');
  return {
    group: group ?? '',
    version: version ?? '',
    kind,
    plural,
    singular: '',
    shortNames: [],
    isNamespaced,
    verbs: [],
  };
}

/** Reads with an API server that has these responses by path; an Error is thrown, and what has none does not exist. */
async function read(manifest: string, responses: Readonly<Record<string, unknown>>) {
  const requests: KubeRequest[] = [];
  const kube = {
    request: async (request: KubeRequest) => {
      requests.push(request);
      const response = responses[request.path];
      if (response instanceof Error) throw response;
      if (response === undefined) throw new KubeApiError('not found', { status: 404, reason: 'NotFound' });
      return response;
    },
  };
  const parts = { kube, find, namespace: 'n', clock: new FakeClock(2 * HOUR_MS) };
  const { objects, eventsProblem } = await readReleaseObjects(parts, manifest, never);
  return { objects, eventsProblem, requests };
}

const FORBIDDEN = new KubeApiError('no', { status: 403, reason: 'Forbidden' });
const meta = (name: string, more: object = {}) => ({
  name,
  namespace: 'n',
  creationTimestamp: '1970-01-01T01:00:00Z',
  ...more,
});
const NO_EVENTS = { items: [] };

test('objects are read with one request for each kind, those without a status without their content', async () => {
  const manifest = manifestOf(
    ['v1', 'Secret', 'a'],
    ['v1', 'Secret', 'b'],
    ['apps/v1', 'Deployment', 'web'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'r'],
  );
  const { objects, requests } = await read(manifest, {
    '/api/v1/namespaces/n/secrets': { items: [{ metadata: meta('a') }] },
    '/apis/apps/v1/namespaces/n/deployments/web': {
      metadata: meta('web', { generation: 1 }),
      spec: { replicas: 1 },
      status: { observedGeneration: 1 },
    },
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/r': { metadata: { name: 'r' } },
    '/api/v1/namespaces/n/events': NO_EVENTS,
  });
  expect(
    requests.map(({ path, accept = '', query = {} }) => [
      path,
      accept.includes('Partial'),
      query['labelSelector'],
    ]),
  ).toEqual([
    ['/api/v1/namespaces/n/events', false, undefined],
    ['/api/v1/namespaces/n/secrets', true, 'app.kubernetes.io/managed-by=Helm'],
    ['/apis/apps/v1/namespaces/n/deployments/web', false, undefined],
    ['/apis/rbac.authorization.k8s.io/v1/clusterroles/r', true, undefined],
  ]);
  expect(
    objects.map(({ kind, namespace, name, state, reason }) => [kind, namespace, name, state, reason]),
  ).toEqual([
    ['Secret', 'n', 'b', 'missing', 'it does not exist, or has lost its labels'],
    ['Deployment', 'n', 'web', 'not-ready', '0 of 1 replicas are updated'],
    ['Secret', 'n', 'a', 'ready', ''],
    ['ClusterRole', '', 'r', 'ready', ''],
  ]);
  expect(objects[1]).toMatchObject({
    createdAt: '1970-01-01T01:00:00Z',
    logs: 'kubectl logs -n n deployments.apps/web --all-containers --tail 100',
    describe: 'kubectl describe -n n deployments.apps/web',
  });
  expect(objects[3]).toMatchObject({
    createdAt: null,
    logs: '',
    describe: 'kubectl describe clusterroles.rbac.authorization.k8s.io/r',
  });
});

test('a kind that is forbidden, not served or fails leaves the others as they are', async () => {
  const manifest = manifestOf(
    ['v1', 'Secret', 'a'],
    ['x/v1', 'Gone', 'g'],
    ['v1', 'Service', 's'],
    ['v1', 'ConfigMap', 'c'],
  );
  const { objects, eventsProblem } = await read(manifest, {
    '/api/v1/namespaces/n/secrets/a': FORBIDDEN,
    '/api/v1/namespaces/n/services/s': new KubeApiError('etcd is slow', { status: 500, reason: '' }),
    '/api/v1/namespaces/n/configmaps/c': { metadata: meta('c') },
    '/api/v1/namespaces/n/events': FORBIDDEN,
  });
  expect(objects.map(({ name, state, reason }) => [name, state, reason])).toEqual([
    ['g', 'unknown', 'Gone is not served'],
    ['s', 'unknown', 'etcd is slow'],
    ['a', 'not-permitted', 'the operator may not read this kind'],
    ['c', 'ready', ''],
  ]);
  expect(eventsProblem).toBe('Events cannot be read: the operator may not read this kind');
});

test('without an API server the request fails as a whole', async () => {
  const away = new OperatorError('KUBE_UNREACHABLE', 'away');
  await expect(
    read(manifestOf(['v1', 'Secret', 'a']), {
      '/api/v1/namespaces/n/secrets/a': away,
      '/api/v1/namespaces/n/events': NO_EVENTS,
    }),
  ).rejects.toBe(away);
});

test('objects in several namespaces are listed at once, and a list that is cut says nothing of the rest', async () => {
  const manifest = manifestOf(['v1', 'ConfigMap', 'a', 'one'], ['v1', 'ConfigMap', 'a', 'two']);
  const { objects, requests } = await read(manifest, {
    '/api/v1/configmaps': {
      metadata: { continue: 'more' },
      items: [{ metadata: meta('a', { namespace: 'two' }) }],
    },
    '/api/v1/events': NO_EVENTS,
  });
  expect(requests).toHaveLength(2);
  expect(objects.map(({ namespace, state }) => [namespace, state])).toEqual([
    ['one', 'unknown'],
    ['two', 'ready'],
  ]);
});

test('Events of the last hour go to their object, those of pods to its workload, the newest five', async () => {
  const event = (kind: string, name: string, minute: number, more: object = {}) => ({
    involvedObject: { kind, name, namespace: 'n' },
    type: 'Warning',
    reason: `R${minute}`,
    message: 'no image',
    lastTimestamp: new Date(HOUR_MS + minute * 60_000).toISOString(),
    ...more,
  });
  const { objects } = await read(manifestOf(['apps/v1', 'Deployment', 'web'], ['v1', 'Service', 'web']), {
    '/apis/apps/v1/namespaces/n/deployments/web': { metadata: meta('web') },
    '/api/v1/namespaces/n/services/web': { metadata: meta('web') },
    '/api/v1/namespaces/n/events': {
      items: [
        event('Pod', 'web-1-a', 1, { count: 7 }),
        event('Pod', 'website', 2),
        event('Deployment', 'web', -1),
        event('Service', 'web', 3, { lastTimestamp: null, eventTime: new Date(HOUR_MS + 1).toISOString() }),
        ...[4, 5, 6, 7].map((minute) => event('Deployment', 'web', minute)),
      ],
    },
  });
  expect(objects.map(({ kind, events }) => [kind, events.map(({ reason }) => reason)])).toEqual([
    ['Deployment', ['R7', 'R6', 'R5', 'R4', 'R1']],
    ['Service', ['R3']],
  ]);
  expect(objects[0]?.events.at(-1)).toEqual({
    at: '1970-01-01T01:01:00.000Z',
    type: 'Warning',
    reason: 'R1',
    message: 'no image',
    count: 7,
  });
});
