import { isObject } from '@addon-operator/json';
import { builtInType, type StructType, type ValueType } from './built-in-types.ts';
import { completeEvent, isEvent } from './event-versions.ts';
import { type Fields, fieldsAt, listAt, stringAt, stringsAt, withoutFields } from './json-access.ts';
import type { ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const FILES: Fields = { defaultMode: 0o644 };
const WEBHOOK: Fields = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};
const PROTOCOL: Fields = { protocol: 'TCP' };

/**
 * Values of missing fields, by the type that has the fields: plain ones, and those that follow from other fields. The schema
 * has only some defaults, see {@link StructType.defaults}.
 */
const DEFAULTS: Readonly<Record<string, Fields | ((value: Fields) => Fields)>> = {
  ConfigMapVolumeSource: FILES,
  Container: defaultContainer,
  CronJobSpec: {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  },
  CustomResourceDefinitionNames: (names) => {
    const kind = stringAt(names, 'kind');
    return { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names };
  },
  CustomResourceDefinitionSpec: { conversion: { strategy: 'None' } },
  DaemonSetSpec: { revisionHistoryLimit: 10 },
  DaemonSetUpdateStrategy: rollingUpdate,
  DeploymentSpec: { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
  DeploymentStrategy: rollingUpdate,
  DownwardAPIVolumeSource: FILES,
  EndpointPort: PROTOCOL,
  EndpointSlice: (slice) => withItems(slice, 'ports', (port) => ({ name: '', ...port })),
  EphemeralContainer: defaultContainer,
  GRPCAction: { service: '' },
  HTTPGetAction: { path: '/', scheme: 'HTTP' },
  HorizontalPodAutoscalerSpec: { minReplicas: 1 },
  HostPathVolumeSource: { type: '' },
  Job: (job) => ({ ...job, spec: defaultJobSpec(fieldsAt(job, 'spec')) }),
  LimitRangeItem: defaultLimit,
  MutatingWebhook: { ...WEBHOOK, reinvocationPolicy: 'Never' },
  NetworkPolicyPort: PROTOCOL,
  NetworkPolicySpec: (policy) => ({
    policyTypes: listAt(policy, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'],
    ...policy,
  }),
  ObjectFieldSelector: { apiVersion: 'v1' },
  PersistentVolume: (volume) => ({
    ...volume,
    spec: { volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain', ...fieldsAt(volume, 'spec') },
  }),
  PersistentVolumeClaimSpec: { volumeMode: 'Filesystem' },
  Pod: (pod) => ({ ...pod, spec: { enableServiceLinks: true, ...withRequests(fieldsAt(pod, 'spec')) } }),
  PodSpec: (spec) => ({
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    ...(typeof spec['serviceAccountName'] === 'string' && { serviceAccount: spec['serviceAccountName'] }),
    ...spec,
  }),
  PriorityClass: { preemptionPolicy: 'PreemptLowerPriority' },
  Probe: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  ProjectedVolumeSource: FILES,
  ReplicaSetSpec: { replicas: 1 },
  ReplicationControllerSpec: (spec) => ({
    selector: stringsAt(spec, 'template', 'metadata', 'labels'),
    ...spec,
  }),
  RoleRef: { apiGroup: RBAC_GROUP },
  RollingUpdateDaemonSet: { maxUnavailable: 1, maxSurge: 0 },
  RollingUpdateDeployment: { maxUnavailable: '25%', maxSurge: '25%' },
  RollingUpdateStatefulSetStrategy: { partition: 0 },
  RuleWithOperations: { scope: '*' },
  SecretVolumeSource: FILES,
  ServicePort: defaultServicePort,
  ServiceReference: { port: 443 },
  ServiceSpec: defaultServiceSpec,
  StatefulSetPersistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  StatefulSetSpec: defaultStatefulSetSpec,
  StatefulSetUpdateStrategy: rollingUpdate,
  StorageClass: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
  Subject: (subject) =>
    subject['kind'] === 'ServiceAccount' ? subject : { apiGroup: RBAC_GROUP, ...subject },
  ValidatingWebhook: WEBHOOK,
  Volume: (volume) => (Object.values(volume).some(isObject) ? volume : { ...volume, emptyDir: {} }),
};

/** A built-in object with the fields that the API fills in when they are missing. */
export function applyDefaults(object: ResourceObject, kind: ServedKind): ResourceObject {
  const type = builtInType(kind);
  if (isEvent(kind)) return completeEvent(object);
  if (type === undefined) return object;
  const { kind: kindName, apiVersion, metadata, status, ...fields } = prepared(object);
  const completed = withoutFields(defaultStruct(fields, type), 'metadata', 'status');
  const identity = { kind: kindName, apiVersion, metadata };
  return { ...identity, ...completed, ...(status !== undefined && { status }) };
}

/** An object with the label that follows from its name, or with its strings encoded. */
function prepared(object: ResourceObject): ResourceObject {
  if (object.kind === 'Secret') return encodedSecret(object);
  if (object.kind !== 'Namespace') return object;
  const labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name };
  return { ...object, metadata: { ...object.metadata, labels } };
}

function defaultStruct(value: Fields, struct: StructType): Fields {
  const preset = DEFAULTS[struct.name] ?? {};
  const completed = {
    ...struct.defaults,
    ...(typeof preset === 'function' ? preset(value) : { ...preset, ...value }),
  };
  return Object.fromEntries(
    Object.entries(completed).map(([field, content]) => [
      field,
      defaulted(content, struct.fields.get(field)),
    ]),
  );
}

function defaulted(value: unknown, type: ValueType | undefined): unknown {
  if (type?.type === 'list' && Array.isArray(value)) return value.map((item) => defaulted(item, type.item));
  return type?.type === 'struct' && isObject(value) ? defaultStruct(value, type) : value;
}

function withItems(owner: Fields, field: string, change: (item: Fields) => Fields): Fields {
  if (!Array.isArray(owner[field])) return owner;
  return { ...owner, [field]: owner[field].map((item) => (isObject(item) ? change(item) : item)) };
}

/** Containers of a Pod request their limits, unless they say otherwise. */
function withRequests(pod: Fields): Fields {
  const complete = (container: Fields): Fields => {
    const resources = fieldsAt(container, 'resources');
    const requests = { ...fieldsAt(resources, 'limits'), ...fieldsAt(resources, 'requests') };
    if (Object.keys(requests).length === 0) return container;
    return { ...container, resources: { ...resources, requests } };
  };
  return withItems(withItems(pod, 'containers', complete), 'initContainers', complete);
}

function defaultContainer(container: Fields): Fields {
  return {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicyOf(container['image']),
    ...container,
  };
}

function pullPolicyOf(image: unknown): string {
  if (typeof image !== 'string' || image.includes('@')) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function rollingUpdate(value: Fields): Fields {
  const strategy = { type: 'RollingUpdate', ...value };
  return strategy.type === 'RollingUpdate' ? { rollingUpdate: {}, ...strategy } : strategy;
}

function defaultStatefulSetSpec(spec: Fields): Fields {
  const defaults = {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: {},
  };
  return withItems({ ...defaults, ...spec }, 'volumeClaimTemplates', (claim) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    ...claim,
    status: { phase: 'Pending' },
  }));
}

function defaultJobSpec(spec: Fields): Fields {
  return {
    parallelism: 1,
    ...(spec['parallelism'] === undefined && { completions: 1 }),
    completionMode: 'NonIndexed',
    backoffLimit: 6,
    suspend: false,
    podReplacementPolicy: spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed',
    ...spec,
  };
}

function defaultServiceSpec(spec: Fields): Fields {
  const type = stringAt(spec, 'type') || 'ClusterIP';
  const isExternal = type === 'NodePort' || type === 'LoadBalancer';
  return {
    sessionAffinity: 'None',
    ...(type !== 'ExternalName' && { internalTrafficPolicy: 'Cluster' }),
    ...(isExternal && { externalTrafficPolicy: 'Cluster' }),
    ...(type === 'LoadBalancer' && { allocateLoadBalancerNodePorts: true }),
    ...spec,
    type,
  };
}

/** The port of a target that is 0 or empty counts as missing. */
function defaultServicePort(port: Fields): Fields {
  const target = port['targetPort'];
  return {
    ...port,
    targetPort: target === undefined || target === 0 || target === '' ? port['port'] : target,
  };
}

function encodedSecret(secret: ResourceObject): ResourceObject {
  const encoded = Object.entries(stringsAt(secret, 'stringData')).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  const data = { ...fieldsAt(secret, 'data'), ...Object.fromEntries(encoded) };
  const { kind, apiVersion, metadata } = secret;
  return {
    ...withoutFields(secret, 'stringData', 'data', 'type'),
    kind,
    apiVersion,
    metadata,
    ...(Object.keys(data).length === 0 && secret['data'] === undefined ? {} : { data }),
    type: stringAt(secret, 'type') || 'Opaque',
  };
}

function defaultLimit(limit: Fields): Fields {
  if (limit['type'] !== 'Container') return limit;
  const limits = { ...fieldsAt(limit, 'max'), ...fieldsAt(limit, 'default') };
  const requests = { ...fieldsAt(limit, 'min'), ...limits, ...fieldsAt(limit, 'defaultRequest') };
  return {
    ...limit,
    ...(Object.keys(limits).length > 0 && { default: limits }),
    ...(Object.keys(requests).length > 0 && { defaultRequest: requests }),
  };
}
