import { expect, test } from 'vitest';
import { builtInKind } from '../test/api-lab.ts';
import { applyDefaults } from './defaults.ts';
import { type Fields, fieldsAt, valueAt } from './json-access.ts';

function defaulted(kind: string, fields: Fields): Fields {
  return applyDefaults({ kind, apiVersion: 'v1', metadata: { name: 'a' }, ...fields }, builtInKind(kind));
}

const template = {
  spec: { containers: [{ name: 'a', image: 'nginx:1.27', ports: [{ containerPort: 80 }] }] },
};

test('defaults never replace what is set, and a second time they change nothing', () => {
  const kinds = [
    'Pod',
    'Deployment',
    'DaemonSet',
    'StatefulSet',
    'ReplicaSet',
    'Job',
    'CronJob',
    'Service',
    'Secret',
    'NetworkPolicy',
  ];
  for (const kind of kinds) {
    const spec = {
      replicas: 7,
      template,
      type: 'ClusterIP',
      restartPolicy: 'Never',
      ports: [{ port: 1, protocol: 'UDP' }],
    };
    const once = defaulted(kind, { spec });
    expect(once).toMatchObject({ spec });
    expect(defaulted(kind, once)).toEqual(once);
  }
});

test('a pod template gets what the scheduler and the kubelet would read', () => {
  expect(valueAt(defaulted('Deployment', { spec: { template } }), 'spec', 'template', 'spec')).toEqual({
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    containers: [
      {
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        name: 'a',
        image: 'nginx:1.27',
        ports: [{ protocol: 'TCP', containerPort: 80 }],
        imagePullPolicy: 'IfNotPresent',
      },
    ],
  });
});

test.each([
  ['nginx', 'Always'],
  ['nginx:latest', 'Always'],
  ['nginx:1', 'IfNotPresent'],
  ['registry:5000/nginx', 'Always'],
  ['registry:5000/nginx:1', 'IfNotPresent'],
  ['nginx@sha256:abc', 'IfNotPresent'],
])('the image %s is pulled %s', (image, policy) => {
  const pod = defaulted('Pod', { spec: { containers: [{ name: 'a', image }] } });
  expect(valueAt(pod, 'spec', 'containers', 0, 'imagePullPolicy')).toBe(policy);
});

test('probes, volumes, variables and service accounts are completed', () => {
  const spec = {
    serviceAccountName: 'runner',
    containers: [
      {
        livenessProbe: { httpGet: { port: 80 } },
        env: [
          { name: 'A', valueFrom: { fieldRef: { fieldPath: 'x' } } },
          { name: 'B', value: 'b' },
        ],
      },
    ],
    volumes: [
      { configMap: { name: 'c' } },
      { secret: { secretName: 's', defaultMode: 256 } },
      { hostPath: { path: '/' } },
    ],
  };
  expect(fieldsAt(defaulted('Pod', { spec }), 'spec')).toMatchObject({
    serviceAccount: 'runner',
    enableServiceLinks: true,
    containers: [
      {
        livenessProbe: { httpGet: { path: '/', scheme: 'HTTP' }, periodSeconds: 10, failureThreshold: 3 },
        env: [{ valueFrom: { fieldRef: { apiVersion: 'v1' } } }, { value: 'b' }],
      },
    ],
    volumes: [
      { configMap: { defaultMode: 420 } },
      { secret: { defaultMode: 256 } },
      { hostPath: { type: '' } },
    ],
  });
});

test.each([
  [
    'Deployment',
    {},
    { replicas: 1, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } } },
  ],
  ['Deployment', { strategy: { type: 'Recreate' } }, { strategy: { type: 'Recreate' } }],
  ['DaemonSet', {}, { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } }],
  [
    'StatefulSet',
    {},
    { podManagementPolicy: 'OrderedReady', updateStrategy: { rollingUpdate: { partition: 0 } } },
  ],
  ['StatefulSet', { updateStrategy: { type: 'OnDelete' } }, { updateStrategy: { type: 'OnDelete' } }],
  [
    'Job',
    {},
    { completions: 1, parallelism: 1, backoffLimit: 6, podReplacementPolicy: 'TerminatingOrFailed' },
  ],
  ['CronJob', {}, { concurrencyPolicy: 'Allow', successfulJobsHistoryLimit: 3 }],
  ['ReplicationController', { template: { metadata: { labels: { a: 'b' } } } }, { selector: { a: 'b' } }],
  ['Service', { ports: [{ port: 80 }] }, { type: 'ClusterIP', ports: [{ targetPort: 80, protocol: 'TCP' }] }],
  [
    'Service',
    { type: 'LoadBalancer' },
    { externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true },
  ],
  ['Service', { type: 'ExternalName' }, { sessionAffinity: 'None' }],
  ['NetworkPolicy', {}, { podSelector: {}, policyTypes: ['Ingress'] }],
  ['NetworkPolicy', { egress: [{}] }, { policyTypes: ['Ingress', 'Egress'] }],
  ['HorizontalPodAutoscaler', {}, { minReplicas: 1 }],
  ['PersistentVolumeClaim', {}, { volumeMode: 'Filesystem' }],
  ['PersistentVolume', {}, { persistentVolumeReclaimPolicy: 'Retain' }],
  [
    'LimitRange',
    { limits: [{ type: 'Container', max: { cpu: '1' } }] },
    { limits: [{ default: { cpu: '1' }, defaultRequest: { cpu: '1' } }] },
  ],
  ['LimitRange', { limits: [{ type: 'Pod', max: { cpu: '1' } }] }, { limits: [{ max: { cpu: '1' } }] }],
  [
    'CustomResourceDefinition',
    { names: { kind: 'Thing' } },
    { names: { singular: 'thing', listKind: 'ThingList' } },
  ],
])('a %s with spec %j gets %j', (kind, spec, expected) => {
  expect(defaulted(kind, { spec })['spec']).toMatchObject(expected);
});

test('texts of a Secret become data', () => {
  const secret = defaulted('Secret', { stringData: { a: 'b' }, data: { a: 'old', c: 'ZA==' } });
  expect(secret).toMatchObject({ data: { a: 'Yg==', c: 'ZA==' }, type: 'Opaque' });
  expect(secret).not.toHaveProperty('stringData');
  expect(defaulted('Secret', { type: 'x/y' })).toMatchObject({ type: 'x/y' });
});

test('bindings and webhooks name the groups and limits that they mean', () => {
  expect(
    defaulted('RoleBinding', {
      roleRef: { name: 'r' },
      subjects: [{ kind: 'Group' }, { kind: 'ServiceAccount' }],
    }),
  ).toMatchObject({
    roleRef: { apiGroup: 'rbac.authorization.k8s.io' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io' }, { kind: 'ServiceAccount' }],
  });
  const webhooks = [{ name: 'a', rules: [{}], clientConfig: { service: {} } }];
  expect(defaulted('MutatingWebhookConfiguration', { webhooks })).toMatchObject({
    webhooks: [
      {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        rules: [{ scope: '*' }],
        clientConfig: { service: { port: 443 } },
      },
    ],
  });
});
