import { expect, test } from 'vitest';
import { KubeApiError } from './kube-client.ts';
import type { KubeObject } from './kube-object.ts';
import { podTrouble, readPodTrouble } from './pod-trouble.ts';

const signal = new AbortController().signal;
const DEPLOYMENT: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { selector: { matchLabels: { app: 'web', tier: 'front' } } },
};

function pod(status: object, metadata: object = {}): Record<string, unknown> {
  return { metadata: { name: 'web-1', ...metadata }, status };
}

function container(state: object, lastState: object = {}): object {
  return { name: 'main', state, lastState };
}

const PULL = container({ waiting: { reason: 'ErrImagePull', message: 'not found' } });
const CRASH = container(
  { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
  { terminated: { exitCode: 3, reason: 'Error', message: 'no database\n' } },
);

test.each([
  ['nothing', pod({ phase: 'Running', containerStatuses: [container({ running: {} })] }), undefined],
  [
    'an image that is pulled',
    pod({ containerStatuses: [container({ waiting: { reason: 'ContainerCreating' } })] }),
    undefined,
  ],
  [
    'an image that cannot be pulled',
    pod({ containerStatuses: [container({ running: {} }), PULL] }),
    'pod web-1 has a container main that waits (ErrImagePull: not found)',
  ],
  [
    'a container that crashes',
    pod({ containerStatuses: [CRASH] }),
    'pod web-1 has a container main that waits after it ended with exit code 3 (no database) (CrashLoopBackOff: back-off 10s)',
  ],
  [
    'an init container that failed',
    pod({ initContainerStatuses: [container({ terminated: { exitCode: 137, reason: 'OOMKilled' } })] }),
    'pod web-1 has a container main that ended with exit code 137 (OOMKilled)',
  ],
  [
    'a container that ended well',
    pod({ phase: 'Succeeded', containerStatuses: [container({ terminated: { exitCode: 0 } })] }),
    undefined,
  ],
  [
    'no node that takes it',
    pod({ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }] }),
    'pod web-1 cannot be scheduled: 0/1 nodes are available',
  ],
  [
    'an eviction',
    pod({ phase: 'Failed', reason: 'Evicted', message: 'disk pressure' }),
    'pod web-1 has failed (Evicted: disk pressure)',
  ],
  ['a deletion', pod({ phase: 'Failed' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }), undefined],
])('what keeps a pod from running is read from its status: %s', (_what, one, expected) => {
  expect(podTrouble([one])).toBe(expected);
});

test('the pods of a workload are listed by its labels', async () => {
  const paths: unknown[] = [];
  const kube = {
    request: async ({ path, query }: { path: string; query?: unknown }) => {
      paths.push([path, query]);
      return { items: [pod({ containerStatuses: [PULL] })] };
    },
  };
  expect(await readPodTrouble(DEPLOYMENT, kube, signal)).toContain('ErrImagePull');
  expect(paths).toEqual([
    ['/api/v1/namespaces/shop/pods', { labelSelector: 'app=web,tier=front', limit: '50' }],
  ]);
});

test('no pods are listed for other kinds and for selectors with expressions', async () => {
  const kube = { request: () => Promise.reject(new Error('listed')) };
  const config = { ...DEPLOYMENT, apiVersion: 'v1', kind: 'ConfigMap' };
  const selector = { matchLabels: {}, matchExpressions: [] };
  expect(await readPodTrouble(config, kube, signal)).toBeUndefined();
  expect(await readPodTrouble({ ...DEPLOYMENT, spec: { selector } }, kube, signal)).toBeUndefined();
});

test('an account that may not list pods learns nothing, and other errors are reported', async () => {
  const refused = {
    request: () => Promise.reject(new KubeApiError('no', { status: 403, reason: 'Forbidden' })),
  };
  expect(await readPodTrouble(DEPLOYMENT, refused, signal)).toBeUndefined();
  const broken = { request: () => Promise.reject(new KubeApiError('no', { status: 500, reason: '' })) };
  await expect(readPodTrouble(DEPLOYMENT, broken, signal)).rejects.toThrow('no');
});
