/** Where a change is: fields and positions. */
type Path = string;
export type Change = readonly [path: Path, value: unknown];

interface Base {
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>>;
}

const pod = (restartPolicy?: string): object => ({
  ...(restartPolicy === undefined ? {} : { restartPolicy }),
  containers: [{ name: 'main', image: 'nginx:1.27', ports: [{ containerPort: 80 }] }],
});
const template = { metadata: { labels: { app: 'web' } }, spec: pod() };
const selector = { matchLabels: { app: 'web' } };
const metadata = { name: 'judged' };

function base(path: string, apiVersion: string, kind: string, fields: object): Base {
  return { path, object: { apiVersion, kind, metadata, ...fields } };
}

const core = (plural: string, kind: string, fields: object): Base =>
  base(`/api/v1/namespaces/{ns}/${plural}`, 'v1', kind, fields);
const grouped = (group: string, plural: string, kind: string, fields: object): Base =>
  base(`/apis/${group}/namespaces/{ns}/${plural}`, group, kind, fields);
const clusterWide = (group: string, plural: string, kind: string, fields: object): Base =>
  base(`/apis/${group}/${plural}`, group, kind, fields);

const RBAC = 'rbac.authorization.k8s.io/v1';
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
export const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const backend = { service: { name: 'web', port: { number: 80 } } };
const jobSpec = { template: { spec: pod('Never') } };

export const BASES = {
  configMap: core('configmaps', 'ConfigMap', { data: { a: '1' } }),
  secret: core('secrets', 'Secret', { stringData: { a: '1' } }),
  service: core('services', 'Service', { spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } }),
  account: core('serviceaccounts', 'ServiceAccount', {}),
  claim: core('persistentvolumeclaims', 'PersistentVolumeClaim', { spec: CLAIM }),
  pod: core('pods', 'Pod', { spec: { ...pod(), automountServiceAccountToken: false } }),
  deployment: grouped('apps/v1', 'deployments', 'Deployment', { spec: { selector, template } }),
  statefulSet: grouped('apps/v1', 'statefulsets', 'StatefulSet', {
    spec: { serviceName: 'web', selector, template },
  }),
  daemonSet: grouped('apps/v1', 'daemonsets', 'DaemonSet', { spec: { selector, template } }),
  job: grouped('batch/v1', 'jobs', 'Job', { spec: jobSpec }),
  cronJob: grouped('batch/v1', 'cronjobs', 'CronJob', {
    spec: { schedule: '0 3 * * *', jobTemplate: { spec: jobSpec } },
  }),
  ingress: grouped('networking.k8s.io/v1', 'ingresses', 'Ingress', {
    spec: { rules: [{ host: 'example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
  }),
  policy: grouped('networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy', {
    spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
  }),
  budget: grouped('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', {
    spec: { minAvailable: 1, selector },
  }),
  autoscaler: grouped('autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
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
  role: grouped(RBAC, 'roles', 'Role', { rules }),
  clusterRole: clusterWide(RBAC, 'clusterroles', 'ClusterRole', { rules }),
  binding: grouped(RBAC, 'rolebindings', 'RoleBinding', {
    roleRef,
    subjects: [{ kind: 'ServiceAccount', name: 'runner', namespace: 'default' }],
  }),
  clusterBinding: clusterWide(RBAC, 'clusterrolebindings', 'ClusterRoleBinding', {
    roleRef: { ...roleRef, kind: 'ClusterRole' },
    subjects: [{ kind: 'ServiceAccount', name: 'runner', namespace: 'default' }],
  }),
  namespace: base('/api/v1/namespaces', 'v1', 'Namespace', {}),
  gadget: grouped('judged.example.com/v1', 'gadgets', 'Gadget', {
    spec: { size: 1, mode: 'a', parts: [{ name: 'x' }] },
  }),
  lease: grouped('coordination.k8s.io/v1', 'leases', 'Lease', {
    spec: { holderIdentity: 'me', leaseDurationSeconds: 15 },
  }),
  coreEvent: core('events', 'Event', {
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'judged' },
    reason: 'Tested',
    type: 'Normal',
  }),
  event: grouped('events.k8s.io/v1', 'events', 'Event', {
    eventTime: '2026-01-02T03:04:05.000000Z',
    reportingController: 'example.com/test',
    reportingInstance: 'test-1',
    action: 'Start',
    reason: 'Tested',
    type: 'Normal',
    regarding: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'judged' },
  }),
} as const satisfies Readonly<Record<string, Base>>;

const text = { type: 'string' };

/** The definition that {@link BASES.gadget} needs. */
export const GADGET_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.judged.example.com' },
  spec: {
    group: 'judged.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, maximum: 10 },
                  even: { type: 'integer', multipleOf: 2 },
                  mode: { ...text, enum: ['a', 'b'] },
                  name: { ...text, pattern: '^[a-z]+$', minLength: 1, maxLength: 10 },
                  when: { ...text, format: 'date-time' },
                  port: { 'x-kubernetes-int-or-string': true },
                  parts: {
                    type: 'array',
                    minItems: 1,
                    maxItems: 3,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: text, count: { type: 'integer' } },
                    },
                  },
                  tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
                  labels: { type: 'object', additionalProperties: text },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  choice: {
                    type: 'object',
                    properties: { a: text, b: text },
                    oneOf: [{ required: ['a'] }, { required: ['b'] }],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

export type Kind = keyof typeof BASES;

export const C = 'spec.template.spec.containers.0';
export const T = 'spec.template.spec';
export const LONG = 'a'.repeat(70);
