import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { listAt, numberAt, stringAt, valueAt } from './json-access.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const REPLICA_SETS = '/apis/apps/v1/namespaces/default/replicasets';
const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'a', image: 'nginx' }] },
};
const task = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template };
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
  lab.startControllers();
});

async function create(path: string, body: object): Promise<void> {
  lab.create(path, body);
  await lab.settle();
}

function sets(): readonly (readonly [replicas: number, revision: string])[] {
  return listAt(lab.get(REPLICA_SETS).body, 'items')
    .map(
      (set) =>
        [
          numberAt(set, 'spec', 'replicas') ?? -1,
          stringAt(set, 'metadata', 'annotations', 'deployment.kubernetes.io/revision'),
        ] as const,
    )
    .toSorted(([left], [right]) => left - right);
}

test('a Deployment is available at once, with a ReplicaSet of its template', async () => {
  await create(DEPLOYMENTS, { metadata: { name: 'web' }, spec });
  expect(lab.get(`${DEPLOYMENTS}/web`).body).toMatchObject({
    metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' } },
    status: {
      observedGeneration: 1,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      conditions: [
        { type: 'Available', status: 'True' },
        { type: 'Progressing', status: 'True' },
      ],
    },
  });
  const [set] = listAt(lab.get(REPLICA_SETS).body, 'items');
  expect(set).toMatchObject({
    metadata: { ownerReferences: [{ kind: 'Deployment', name: 'web', controller: true }] },
    spec: { replicas: 2, template: { spec: { containers: [{ name: 'a' }] } } },
    status: { readyReplicas: 2 },
  });
  expect(stringAt(set, 'metadata', 'labels', 'pod-template-hash')).not.toBe('');
});

test('a new template gets a new ReplicaSet, the old one is scaled down; going back uses it again', async () => {
  await create(DEPLOYMENTS, { metadata: { name: 'web' }, spec });
  const roll = async (image: string): Promise<void> => {
    lab.patch(`${DEPLOYMENTS}/web`, 'strategic', {
      spec: { template: { spec: { containers: [{ name: 'a', image }] } } },
    });
    await lab.settle();
  };
  await roll('nginx:2');
  expect(sets()).toEqual([
    [0, '1'],
    [2, '2'],
  ]);
  await roll('nginx');
  expect(sets()).toEqual([
    [0, '2'],
    [2, '3'],
  ]);
});

test('old ReplicaSets are kept up to the limit', async () => {
  await create(DEPLOYMENTS, { metadata: { name: 'web' }, spec: { ...spec, revisionHistoryLimit: 1 } });
  for (const image of ['b', 'c', 'd']) {
    lab.patch(`${DEPLOYMENTS}/web`, 'strategic', {
      spec: { template: { spec: { containers: [{ name: 'a', image }] } } },
    });
    await lab.settle();
  }
  expect(sets()).toEqual([
    [0, '3'],
    [2, '4'],
  ]);
});

test('scaling changes counts, not revisions', async () => {
  await create(DEPLOYMENTS, { metadata: { name: 'web' }, spec });
  lab.patch(`${DEPLOYMENTS}/web/scale`, 'merge', { spec: { replicas: 0 } });
  await lab.settle();
  expect(sets()).toEqual([[0, '1']]);
  expect(lab.get(`${DEPLOYMENTS}/web`).body['status']).toMatchObject({ observedGeneration: 2 });
  expect(valueAt(lab.get(`${DEPLOYMENTS}/web`).body, 'status', 'replicas')).toBeUndefined();
});

test.each([
  [
    '/apis/apps/v1/namespaces/default/statefulsets',
    { ...spec, serviceName: 'db' },
    { readyReplicas: 2, currentReplicas: 2 },
  ],
  [
    '/apis/apps/v1/namespaces/default/daemonsets',
    { selector: spec.selector, template },
    { numberReady: 1, desiredNumberScheduled: 1 },
  ],
  ['/apis/apps/v1/namespaces/default/replicasets', spec, { readyReplicas: 2 }],
  ['/api/v1/namespaces/default/replicationcontrollers', { replicas: 1, template }, { readyReplicas: 1 }],
  [
    '/apis/batch/v1/namespaces/default/jobs',
    { template: task },
    { succeeded: 1, conditions: [{}, { type: 'Complete', status: 'True' }] },
  ],
  [
    '/apis/batch/v1/namespaces/default/jobs',
    { template: task, completions: 3, completionMode: 'Indexed' },
    { succeeded: 3, completedIndexes: '0-2' },
  ],
  [
    '/api/v1/persistentvolumes',
    { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
    { phase: 'Available' },
  ],
  [
    '/api/v1/namespaces/default/pods',
    template.spec,
    { phase: 'Running', containerStatuses: [{ ready: true }] },
  ],
  ['/api/v1/namespaces/default/pods', { ...template.spec, restartPolicy: 'Never' }, { phase: 'Succeeded' }],
  [
    '/api/v1/namespaces/default/persistentvolumeclaims',
    { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    { phase: 'Bound' },
  ],
  [
    '/api/v1/namespaces/default/services',
    { type: 'LoadBalancer', ports: [{ port: 80 }] },
    { loadBalancer: { ingress: [{ ip: '127.0.0.1' }] } },
  ],
  [
    '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    { minAvailable: 1 },
    {
      observedGeneration: 1,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
    },
  ],
])('an object of %s becomes ready', async (path, objectSpec, status) => {
  await create(path, { metadata: { name: 'a' }, spec: objectSpec });
  expect(lab.get(`${path}/a`).body['status']).toMatchObject(status);
});

test('a suspended Job completes when it is resumed, a finished one stays as it is', async () => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  await create(jobs, { metadata: { name: 'later' }, spec: { template: task, suspend: true } });
  expect(lab.get(`${jobs}/later`).body['status']).toMatchObject({
    conditions: [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }],
    ready: 0,
  });
  lab.patch(`${jobs}/later`, 'merge', { spec: { suspend: false } });
  await lab.settle();
  expect(lab.get(`${jobs}/later`).body['status']).toMatchObject({
    conditions: [
      { type: 'Suspended', status: 'False', reason: 'JobResumed' },
      { type: 'SuccessCriteriaMet', status: 'True' },
      { type: 'Complete', status: 'True', reason: 'CompletionsReached' },
    ],
    succeeded: 1,
  });
  await create(jobs, { metadata: { name: 'done' }, spec: { template: task } });
  const before = lab.get(`${jobs}/done`).body['status'];
  await lab.clock.advance(60_000);
  lab.patch(`${jobs}/done`, 'merge', { metadata: { labels: { a: 'b' } } });
  await lab.settle();
  expect(lab.get(`${jobs}/done`).body['status']).toEqual(before);
});

test('a settled cluster makes no more changes', async () => {
  await create(DEPLOYMENTS, { metadata: { name: 'web' }, spec });
  const { revision } = lab.state.store;
  await lab.clock.advance(3_600_000);
  lab.patch(`${DEPLOYMENTS}/web`, 'merge', {});
  await lab.settle();
  expect(lab.state.store.revision).toBe(revision);
});
