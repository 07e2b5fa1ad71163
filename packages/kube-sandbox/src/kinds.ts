import { eventFields } from './event-versions.ts';
import type { Fields } from './json-access.ts';
import type { ResourceName } from './status-error.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** One column of a custom resource in tables; `jsonPath` starts at the object. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

/** One kind in one version, as it is served. */
export interface ServedKind extends ResourceName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly isCustom: boolean;
  readonly hasStatus: boolean;
  readonly hasScale: boolean;
  readonly verbs: readonly Verb[];
  /** Objects of the kind are questions: created, answered and forgotten. */
  readonly isReview: boolean;
  /** Columns of the table output that a custom resource defines. */
  readonly columns?: readonly PrinterColumn[];
  /** OpenAPI schema of a custom resource. */
  readonly schema?: Fields;
  /** Known fields beside apiVersion, kind and metadata; undefined when any field is allowed. */
  readonly fields?: readonly string[];
}

/** `v1` or `group/version`. */
export function apiVersionOf(kind: Pick<ServedKind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** Where objects of a kind are kept, the same for all its versions: `group/plural`. */
export function storageOf(kind: ResourceName): string {
  // Events of both groups are the same objects.
  const group = kind.group === 'events.k8s.io' ? '' : kind.group;
  return `${group}/${kind.plural}`;
}

/** Whether objects of the kind are namespaces, which have rules of their own. */
export function isNamespace(kind: Pick<ServedKind, 'group' | 'kind'>): boolean {
  return kind.group === '' && kind.kind === 'Namespace';
}

interface KindOptions {
  readonly short?: readonly string[];
  readonly all?: true;
  readonly categories?: readonly string[];
  readonly status?: true;
  readonly scale?: true;
  /** Default: spec, and status where there is one. */
  readonly fields?: readonly string[];
  readonly plural?: string;
  readonly isReview?: true;
}

type KindRow = (group: string, version: string) => ServedKind;

function row(kind: string, isNamespaced: boolean, options: KindOptions): KindRow {
  const singular = kind.toLowerCase();
  const plural = options.plural ?? `${singular}s`;
  const defaultFields = options.status === true ? ['spec', 'status'] : ['spec'];
  return (group, version) => ({
    group,
    version,
    kind,
    plural,
    singular,
    listKind: `${kind}List`,
    shortNames: options.short ?? [],
    categories: options.all === true ? ['all'] : (options.categories ?? []),
    isNamespaced,
    isCustom: false,
    hasStatus: options.status === true,
    hasScale: options.scale === true,
    verbs: verbsOf(kind, options),
    isReview: options.isReview === true,
    fields: options.fields ?? defaultFields,
  });
}

function verbsOf(kind: string, options: KindOptions): readonly Verb[] {
  if (options.isReview === true) return ['create'];
  return kind === 'Namespace' ? ALL_VERBS.filter((verb) => verb !== 'deletecollection') : ALL_VERBS;
}

function inNamespace(kind: string, options: KindOptions = {}): KindRow {
  return row(kind, true, options);
}

function inCluster(kind: string, options: KindOptions = {}): KindRow {
  return row(kind, false, options);
}

const CORE_EVENT_FIELDS = [
  'action',
  'count',
  'eventTime',
  'firstTimestamp',
  'involvedObject',
  'lastTimestamp',
  'message',
  'reason',
  'related',
  'reportingComponent',
  'reportingInstance',
  'series',
  'source',
  'type',
];

const CORE = [
  inNamespace('ConfigMap', { short: ['cm'], fields: ['binaryData', 'data', 'immutable'] }),
  inNamespace('Endpoints', { short: ['ep'], plural: 'endpoints', fields: ['subsets'] }),
  inNamespace('Event', { short: ['ev'], fields: CORE_EVENT_FIELDS }),
  inNamespace('LimitRange', { short: ['limits'] }),
  inCluster('Namespace', { short: ['ns'], status: true }),
  inCluster('Node', { short: ['no'], status: true }),
  inNamespace('PersistentVolumeClaim', { short: ['pvc'], status: true }),
  inCluster('PersistentVolume', { short: ['pv'], status: true }),
  inNamespace('Pod', { short: ['po'], all: true, status: true }),
  inNamespace('PodTemplate', { fields: ['template'] }),
  inNamespace('ReplicationController', { short: ['rc'], all: true, status: true, scale: true }),
  inNamespace('ResourceQuota', { short: ['quota'], status: true }),
  inNamespace('Secret', { fields: ['data', 'immutable', 'stringData', 'type'] }),
  inNamespace('ServiceAccount', {
    short: ['sa'],
    fields: ['automountServiceAccountToken', 'imagePullSecrets', 'secrets'],
  }),
  inNamespace('Service', { short: ['svc'], all: true, status: true }),
];

const APPS = [
  inNamespace('ControllerRevision', { fields: ['data', 'revision'] }),
  inNamespace('DaemonSet', { short: ['ds'], all: true, status: true }),
  inNamespace('Deployment', { short: ['deploy'], all: true, status: true, scale: true }),
  inNamespace('ReplicaSet', { short: ['rs'], all: true, status: true, scale: true }),
  inNamespace('StatefulSet', { short: ['sts'], all: true, status: true, scale: true }),
];

const API_EXTENSIONS = ['api-extensions'];

/** Served group versions and their kinds, in the order of discovery. */
const GROUPS: readonly (readonly [group: string, version: string, rows: readonly KindRow[]])[] = [
  ['', 'v1', CORE],
  ['apps', 'v1', APPS],
  [
    'events.k8s.io',
    'v1',
    [
      inNamespace('Event', {
        short: ['ev'],
        fields: eventFields(CORE_EVENT_FIELDS),
      }),
    ],
  ],
  ['authentication.k8s.io', 'v1', [inCluster('SelfSubjectReview', { status: true, isReview: true })]],
  [
    'authorization.k8s.io',
    'v1',
    [
      inNamespace('LocalSubjectAccessReview', { status: true, isReview: true }),
      inCluster('SelfSubjectAccessReview', { status: true, isReview: true }),
      inCluster('SelfSubjectRulesReview', { status: true, isReview: true }),
      inCluster('SubjectAccessReview', { status: true, isReview: true }),
    ],
  ],
  [
    'autoscaling',
    'v2',
    [inNamespace('HorizontalPodAutoscaler', { short: ['hpa'], all: true, status: true })],
  ],
  [
    'batch',
    'v1',
    [
      inNamespace('CronJob', { short: ['cj'], all: true, status: true }),
      inNamespace('Job', { all: true, status: true }),
    ],
  ],
  [
    'networking.k8s.io',
    'v1',
    [
      inCluster('IngressClass', { plural: 'ingressclasses' }),
      inNamespace('Ingress', { plural: 'ingresses', short: ['ing'], status: true }),
      inNamespace('NetworkPolicy', { plural: 'networkpolicies', short: ['netpol'] }),
    ],
  ],
  ['policy', 'v1', [inNamespace('PodDisruptionBudget', { short: ['pdb'], status: true })]],
  [
    'rbac.authorization.k8s.io',
    'v1',
    [
      inCluster('ClusterRoleBinding', { fields: ['roleRef', 'subjects'] }),
      inCluster('ClusterRole', { fields: ['aggregationRule', 'rules'] }),
      inNamespace('RoleBinding', { fields: ['roleRef', 'subjects'] }),
      inNamespace('Role', { fields: ['rules'] }),
    ],
  ],
  [
    'storage.k8s.io',
    'v1',
    [
      inCluster('CSIDriver'),
      inCluster('CSINode'),
      inCluster('StorageClass', {
        plural: 'storageclasses',
        short: ['sc'],
        fields: [
          'allowVolumeExpansion',
          'allowedTopologies',
          'mountOptions',
          'parameters',
          'provisioner',
          'reclaimPolicy',
          'volumeBindingMode',
        ],
      }),
      inCluster('VolumeAttachment', { status: true }),
    ],
  ],
  [
    'admissionregistration.k8s.io',
    'v1',
    [
      inCluster('MutatingWebhookConfiguration', { categories: API_EXTENSIONS, fields: ['webhooks'] }),
      inCluster('ValidatingAdmissionPolicy', {
        plural: 'validatingadmissionpolicies',
        categories: API_EXTENSIONS,
        status: true,
      }),
      inCluster('ValidatingAdmissionPolicyBinding', { categories: API_EXTENSIONS }),
      inCluster('ValidatingWebhookConfiguration', { categories: API_EXTENSIONS, fields: ['webhooks'] }),
    ],
  ],
  [
    'apiextensions.k8s.io',
    'v1',
    [
      inCluster('CustomResourceDefinition', {
        short: ['crd', 'crds'],
        categories: API_EXTENSIONS,
        status: true,
      }),
    ],
  ],
  [
    'scheduling.k8s.io',
    'v1',
    [
      inCluster('PriorityClass', {
        plural: 'priorityclasses',
        short: ['pc'],
        fields: ['description', 'globalDefault', 'preemptionPolicy', 'value'],
      }),
    ],
  ],
  ['coordination.k8s.io', 'v1', [inNamespace('Lease')]],
  [
    'node.k8s.io',
    'v1',
    [
      inCluster('RuntimeClass', {
        plural: 'runtimeclasses',
        fields: ['handler', 'overhead', 'scheduling'],
      }),
    ],
  ],
  [
    'discovery.k8s.io',
    'v1',
    [inNamespace('EndpointSlice', { fields: ['addressType', 'endpoints', 'ports'] })],
  ],
];

/** Every built-in kind that the sandbox stores. */
export const BUILT_IN_KINDS: readonly ServedKind[] = GROUPS.flatMap(([group, version, rows]) =>
  rows.map((kind) => kind(group, version)),
);
