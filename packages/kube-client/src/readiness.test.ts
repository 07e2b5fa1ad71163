import { expect, test } from 'vitest';
import type { KubeObject } from './kube-object.ts';
import { whyNotReady } from './readiness.ts';

function object(
  apiVersion: string,
  kind: string,
  status?: object,
  spec: object = {},
  metadata: object = {},
): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: { name: 'a', generation: 2, ...metadata },
    spec,
    ...(status && { status }),
  };
}

const deployment = (status: object, spec: object = { replicas: 2 }): KubeObject =>
  object('apps/v1', 'Deployment', { observedGeneration: 2, ...status }, spec);
const full = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 };
const stateful = {
  replicas: 2,
  readyReplicas: 2,
  updatedReplicas: 2,
  currentRevision: 'b',
  updateRevision: 'b',
};
const daemon = {
  observedGeneration: 2,
  desiredNumberScheduled: 2,
  currentNumberScheduled: 2,
  updatedNumberScheduled: 2,
  numberAvailable: 2,
  numberReady: 2,
};
const condition = (type: string, status: string, more: object = {}): object => ({
  conditions: [{ type, status, ...more }],
});

test.each<[string, KubeObject, string | undefined]>([
  ['a ConfigMap', object('v1', 'ConfigMap'), undefined],
  [
    'one that is being deleted',
    object('v1', 'ConfigMap', {}, {}, { deletionTimestamp: 'x' }),
    'being deleted',
  ],
  ['an unknown kind, without status', object('a.b/v1', 'Gadget'), undefined],
  [
    'one whose controller is behind',
    object('a.b/v1', 'Gadget', { observedGeneration: 1 }),
    'latest generation',
  ],
  ['Ready', object('a.b/v1', 'Gadget', condition('Ready', 'True')), undefined],
  [
    'Ready=False',
    object('a.b/v1', 'Gadget', condition('Ready', 'False', { reason: 'Why' })),
    'Ready is False: Why',
  ],
  ['Ready=Unknown', object('a.b/v1', 'Gadget', condition('Ready', 'Unknown')), 'Ready is Unknown'],
  ['Stalled', object('a.b/v1', 'Gadget', condition('Stalled', 'True')), 'Stalled is True'],
  ['Reconciling', object('a.b/v1', 'Gadget', condition('Reconciling', 'True')), 'Reconciling is True'],
  ['a whole Deployment', deployment(full), undefined],
  [
    'a Deployment that no controller has seen',
    object('apps/v1', 'Deployment', undefined, { replicas: 1 }),
    '0 of 1 replicas',
  ],
  [
    'a Deployment of none that no controller has seen',
    object('apps/v1', 'Deployment', undefined, { replicas: 0 }),
    'not observed it',
  ],
  ['a Deployment of none', deployment({}, { replicas: 0 }), undefined],
  ['a Deployment in update', deployment({ ...full, updatedReplicas: 1 }), '1 of 2 replicas are updated'],
  [
    'a Deployment with old replicas',
    deployment({ ...full, replicas: 3 }),
    '1 old replicas are still running',
  ],
  [
    'a Deployment without readiness',
    deployment({ ...full, availableReplicas: 0 }),
    '0 of 2 replicas are available',
  ],
  [
    'a Deployment that gave up',
    deployment({ ...full, ...condition('Progressing', 'False', { reason: 'ProgressDeadlineExceeded' }) }),
    'progress deadline',
  ],
  [
    'a Deployment whose pods are refused',
    deployment({
      ...condition('ReplicaFailure', 'True', { message: 'pods "a-1" is forbidden: exceeded quota' }),
    }),
    'its pods are refused: pods "a-1" is forbidden: exceeded quota',
  ],
  ['a StatefulSet', object('apps/v1', 'StatefulSet', stateful, { replicas: 2 }), undefined],
  ['a StatefulSet that starts', object('apps/v1', 'StatefulSet', { replicas: 1 }, { replicas: 2 }), '1 of 2'],
  [
    'a StatefulSet in update',
    object(
      'apps/v1',
      'StatefulSet',
      { ...stateful, updatedReplicas: 1, updateRevision: 'c' },
      { replicas: 2 },
    ),
    '1 of 2 replicas are updated',
  ],
  [
    'a StatefulSet with a partition',
    object(
      'apps/v1',
      'StatefulSet',
      { ...stateful, updatedReplicas: 1, updateRevision: 'c' },
      { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
    ),
    undefined,
  ],
  ['a DaemonSet', object('apps/v1', 'DaemonSet', daemon), undefined],
  ['a DaemonSet that no controller has seen', object('apps/v1', 'DaemonSet', {}), 'not observed it'],
  ['a DaemonSet that starts', object('apps/v1', 'DaemonSet', { ...daemon, numberReady: 1 }), '1 of 2'],
  [
    'a ReplicaSet',
    object('apps/v1', 'ReplicaSet', { ...full, replicas: 1, availableReplicas: 1, readyReplicas: 1 }),
    undefined,
  ],
  ['a bound claim', object('v1', 'PersistentVolumeClaim', { phase: 'Bound' }), undefined],
  ['a pending claim', object('v1', 'PersistentVolumeClaim', { phase: 'Pending' }), 'Pending, not Bound'],
  ['a running Pod', object('v1', 'Pod', { phase: 'Running', ...condition('Ready', 'True') }), undefined],
  ['a Pod that starts', object('v1', 'Pod', { phase: 'Pending' }), 'Pending'],
  ['a Pod that is done', object('v1', 'Pod', { phase: 'Succeeded' }), undefined],
  ['a Job that runs', object('batch/v1', 'Job', { startTime: 'x' }), undefined],
  ['a Job that did not start', object('batch/v1', 'Job', {}), 'not started'],
  [
    'a Job that failed',
    object('batch/v1', 'Job', condition('Failed', 'True', { message: 'too often' })),
    'too often',
  ],
  ['a Service', object('v1', 'Service', {}), undefined],
  [
    'a Service without balancer',
    object('v1', 'Service', {}, { type: 'LoadBalancer' }),
    'load balancer is not ready',
  ],
  [
    'a Service with balancer',
    object('v1', 'Service', { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }, { type: 'LoadBalancer' }),
    undefined,
  ],
  [
    'a definition',
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', condition('Established', 'True')),
    undefined,
  ],
  ['a new definition', object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {}), 'not established'],
])('whyNotReady() of %s', (_case, one, expected) => {
  // A reason is matched by a part of it, which is all that the table names.
  expect(whyNotReady(one) ?? 'ready').toContain(expected ?? 'ready');
});
