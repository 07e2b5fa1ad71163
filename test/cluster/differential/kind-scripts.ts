import {
  APPLY,
  CONTAINER,
  get,
  loosely,
  patch,
  post,
  remove,
  type Script,
  type ScriptStep,
  SECRETS,
  SERVICE,
} from './script.ts';

const BATCH = [
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly' },
    spec: {
      schedule: '0 3 * * *',
      suspend: true,
      jobTemplate: {
        spec: {
          template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'a', image: 'busybox' }] } },
        },
      },
    },
  },
];

export const KIND_SCRIPTS: readonly Script[] = [
  {
    name: 'built-in kinds with their defaults',
    steps: [
      post('/api/v1/namespaces/{ns}/services?fieldManager=helm', SERVICE),
      post('/api/v1/namespaces/{ns}/services?fieldManager=helm', {
        ...SERVICE,
        metadata: { name: 'headless' },
        spec: { ...SERVICE.spec, clusterIP: 'None' },
      }),
      post('/api/v1/namespaces/{ns}/services?fieldManager=helm', {
        ...SERVICE,
        metadata: { name: 'named' },
        spec: { type: 'ExternalName', externalName: 'example.com' },
      }),
      post('/api/v1/namespaces/{ns}/services?fieldManager=helm', {
        ...SERVICE,
        metadata: { name: 'outside' },
        spec: { ...SERVICE.spec, type: 'NodePort' },
      }),
      post(`${SECRETS}?fieldManager=helm`, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'a' },
        stringData: { a: 'b' },
        data: { c: 'ZA==' },
      }),
      post('/api/v1/namespaces/{ns}/serviceaccounts?fieldManager=helm', {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'runner' },
      }),
      post('/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings?fieldManager=helm', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'run:all' },
        roleRef: { kind: 'Role', name: 'x', apiGroup: 'rbac.authorization.k8s.io' },
        subjects: [
          { kind: 'ServiceAccount', name: 'runner', namespace: '{ns}' },
          { kind: 'Group', name: 'x' },
        ],
      }),
      post('/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles?fieldManager=helm', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'run:all' },
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
      }),
      post('/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses?fieldManager=helm', {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name: 'web' },
        spec: {
          rules: [
            {
              host: 'example.com',
              http: {
                paths: [
                  {
                    path: '/',
                    pathType: 'Prefix',
                    backend: { service: { name: 'web', port: { name: 'http' } } },
                  },
                ],
              },
            },
          ],
        },
      }),
      post('/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies?fieldManager=helm', {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'closed' },
        spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
      }),
      post('/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets?fieldManager=helm', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'web' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
      }),
      post('/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers?fieldManager=helm', {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'web' },
        spec: {
          maxReplicas: 3,
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          metrics: [
            {
              type: 'Resource',
              resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
            },
          ],
        },
      }),
      post('/apis/apps/v1/namespaces/{ns}/statefulsets?fieldManager=helm', {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'db' },
        spec: {
          replicas: 0,
          serviceName: 'db',
          selector: { matchLabels: { app: 'db' } },
          template: { metadata: { labels: { app: 'db' } }, spec: { containers: [CONTAINER] } },
          volumeClaimTemplates: [
            {
              metadata: { name: 'config' },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          ],
        },
      }),
      loosely(
        post('/apis/apps/v1/namespaces/{ns}/daemonsets?fieldManager=helm', {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          metadata: { name: 'agent' },
          spec: {
            selector: { matchLabels: { app: 'agent' } },
            template: {
              metadata: { labels: { app: 'agent' } },
              spec: { containers: [{ name: 'a', image: 'busybox:latest' }], serviceAccountName: 'runner' },
            },
          },
        }),
      ),
      ...BATCH.map((object) => post('/apis/batch/v1/namespaces/{ns}/cronjobs?fieldManager=helm', object)),
      loosely(
        post('/api/v1/namespaces/{ns}/persistentvolumeclaims?fieldManager=helm', {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'disk' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        }),
      ),
      post('/api/v1/namespaces/{ns}/limitranges?fieldManager=helm', {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'limits' },
        spec: { limits: [{ type: 'Container', max: { memory: '1Gi' } }] },
      }),
      post('/apis/coordination.k8s.io/v1/namespaces/{ns}/leases?fieldManager=me', {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'leader' },
        spec: { holderIdentity: 'me', leaseDurationSeconds: 15 },
      }),
      post('/api/v1/namespaces/{ns}/events?fieldManager=me', {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'something.1', namespace: '{ns}' },
        involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: '{ns}' },
        reason: 'Tested',
        message: 'hello',
        type: 'Normal',
        source: { component: 'test' },
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
      }),
      get(
        '/api/v1/namespaces/{ns}/events?fieldSelector=involvedObject.name%3Da%2CinvolvedObject.kind%3DConfigMap',
      ),
      get('/api/v1/namespaces/{ns}/secrets?fieldSelector=type%3DOpaque'),
    ],
  },
  {
    name: 'what empty objects of further kinds have',
    steps: [
      post('/api/v1/namespaces/{ns}/podtemplates?fieldManager=me', {
        apiVersion: 'v1',
        kind: 'PodTemplate',
        metadata: { name: 'template' },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
      }),
      post('/api/v1/namespaces/{ns}/replicationcontrollers?fieldManager=me', {
        apiVersion: 'v1',
        kind: 'ReplicationController',
        metadata: { name: 'controller', labels: { a: 'b' } },
        spec: {
          replicas: 0,
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
        },
      }),
      post('/api/v1/namespaces/{ns}/configmaps?fieldManager=me', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'empty' },
        data: {},
        binaryData: {},
      }),
    ],
  },
  {
    name: 'the status of nodes, which a create keeps',
    steps: [
      post('/api/v1/nodes?fieldManager=me', node('{ns}-a')),
      // Controllers of a cluster annotate nodes at once, so that later requests differ.
      patch('/api/v1/nodes/{ns}-b?fieldManager=me', APPLY, node('{ns}-b')),
      ...['a', 'b'].map(
        (name): ScriptStep => ({ ...remove(`/api/v1/nodes/{ns}-${name}`), compare: 'status' }),
      ),
      // Of other kinds a create drops the status, or sets the one that they begin with.
      post('/api/v1/namespaces/{ns}/resourcequotas?fieldManager=me', {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'quota' },
        spec: { hard: { pods: '4' } },
        status: { hard: { pods: '9' } },
      }),
    ],
  },
];

/** A node as a kubelet registers it: with each field that Kubernetes would add otherwise. */
function node(name: string): object {
  const time = '2026-01-01T00:00:00Z';
  const info = ['architecture', 'bootID', 'containerRuntimeVersion', 'kernelVersion', 'kubeProxyVersion'];
  const more = ['kubeletVersion', 'machineID', 'operatingSystem', 'osImage', 'systemUUID'];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
    status: {
      allocatable: { cpu: '2', memory: '4Gi' },
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: time, lastTransitionTime: time }],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: Object.fromEntries([...info, ...more].map((key) => [key, 'x'])),
    },
  };
}
