import { isObject } from '@addon-operator/json';
import { completeEvent } from './event-versions.ts';
import { type Fields, fieldsAt, stringAt, stringsAt, valueAt, withoutFields } from './json-access.ts';
import {
  changeField,
  changeItems,
  defaultPodSpec,
  defaultPodTemplate,
  withDefaults,
} from './pod-defaults.ts';
import type { ResourceObject } from './resource-object.ts';

type Change = (object: ResourceObject) => ResourceObject;

/** A change of the spec; an object without spec gets one. */
function spec(change: (spec: Fields, object: ResourceObject) => Fields): Change {
  return (object) => ({ ...object, spec: change(fieldsAt(object, 'spec'), object) });
}

const DEFAULTS: Readonly<Record<string, Change>> = {
  Pod: spec((pod) => withRequests(withDefaults(defaultPodSpec(pod), { enableServiceLinks: true }))),
  PodTemplate: (object) => ({ ...object, template: defaultPodTemplate(object['template']) }),
  Deployment: spec((value) => ({
    ...withDefaults(value, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
    strategy: rollingUpdate(value['strategy'], { maxUnavailable: '25%', maxSurge: '25%' }),
    template: defaultPodTemplate(value['template']),
  })),
  DaemonSet: spec((value) => ({
    ...withDefaults(value, { revisionHistoryLimit: 10 }),
    updateStrategy: rollingUpdate(value['updateStrategy'], { maxUnavailable: 1, maxSurge: 0 }),
    template: defaultPodTemplate(value['template']),
  })),
  StatefulSet: spec(defaultStatefulSet),
  ReplicaSet: spec((value) => ({
    ...withDefaults(value, { replicas: 1 }),
    template: defaultPodTemplate(value['template']),
  })),
  ReplicationController: spec(defaultReplicationController),
  Job: spec(defaultJob),
  CronJob: spec((value) => ({
    ...withDefaults(value, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }),
    jobTemplate: defaultJobTemplate(value['jobTemplate']),
  })),
  Service: spec(defaultService),
  Secret: defaultSecret,
  Namespace: (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name },
    },
  }),
  PersistentVolumeClaim: spec((value) => withDefaults(value, { volumeMode: 'Filesystem' })),
  PersistentVolume: spec((value) =>
    withDefaults(value, { volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' }),
  ),
  LimitRange: spec((value) => changeItems(value, 'limits', defaultLimit)),
  Event: completeEvent,
  StorageClass: (object) => ({
    ...object,
    ...withDefaults(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  }),
  HorizontalPodAutoscaler: spec((value) => withDefaults(value, { minReplicas: 1 })),
  NetworkPolicy: spec(defaultNetworkPolicy),
  Endpoints: (object) => withItems(object, 'subsets', (set) => changeItems(set, 'ports', tcpPort)),
  EndpointSlice: (object) =>
    withItems(object, 'ports', (port) => withDefaults(port, { name: '', protocol: 'TCP' })),
  RoleBinding: defaultBinding,
  ClusterRoleBinding: defaultBinding,
  PriorityClass: (object) => ({
    ...object,
    preemptionPolicy: object['preemptionPolicy'] ?? 'PreemptLowerPriority',
  }),
  ValidatingWebhookConfiguration: (object) => withItems(object, 'webhooks', defaultWebhook),
  MutatingWebhookConfiguration: (object) =>
    withItems(object, 'webhooks', (hook) =>
      defaultWebhook(withDefaults(hook, { reinvocationPolicy: 'Never' })),
    ),
  CustomResourceDefinition: spec(defaultDefinition),
};

/** A built-in object with the fields that the API fills in when they are missing. */
export function applyDefaults(object: ResourceObject): ResourceObject {
  return DEFAULTS[object.kind]?.(object) ?? object;
}

/** What a container of a Pod may use is what it requests, unless it says otherwise. */
function withRequests(pod: Fields): Fields {
  const complete = (container: Fields): Fields => {
    const resources = fieldsAt(container, 'resources');
    const requests = { ...fieldsAt(resources, 'limits'), ...fieldsAt(resources, 'requests') };
    return Object.keys(requests).length === 0
      ? container
      : { ...container, resources: { ...resources, requests } };
  };
  return changeItems(changeItems(pod, 'containers', complete), 'initContainers', complete);
}

function withItems(object: ResourceObject, field: string, change: (item: Fields) => Fields): ResourceObject {
  return { ...object, [field]: changeItems(object, field, change)[field] };
}

function rollingUpdate(value: unknown, limits: Fields): Fields {
  const strategy = withDefaults(value, { type: 'RollingUpdate' });
  if (strategy['type'] !== 'RollingUpdate') return strategy;
  return { ...strategy, rollingUpdate: withDefaults(strategy['rollingUpdate'], limits) };
}

function defaultStatefulSet(value: Fields): Fields {
  const strategy = withDefaults(value['updateStrategy'], { type: 'RollingUpdate' });
  const updateStrategy =
    strategy['type'] === 'RollingUpdate'
      ? { ...strategy, rollingUpdate: withDefaults(strategy['rollingUpdate'], { partition: 0 }) }
      : strategy;
  const changed = {
    ...withDefaults(value, { replicas: 1, podManagementPolicy: 'OrderedReady', revisionHistoryLimit: 10 }),
    persistentVolumeClaimRetentionPolicy: withDefaults(value['persistentVolumeClaimRetentionPolicy'], {
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    }),
    updateStrategy,
    template: defaultPodTemplate(value['template']),
  };
  return changeItems(changed, 'volumeClaimTemplates', (claim) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    ...claim,
    spec: withDefaults(claim['spec'], { volumeMode: 'Filesystem' }),
    status: { phase: 'Pending' },
  }));
}

function defaultReplicationController(value: Fields): Fields {
  const template = defaultPodTemplate(value['template']);
  const selector = value['selector'] ?? stringsAt(template, 'metadata', 'labels');
  return { ...withDefaults(value, { replicas: 1 }), selector, template };
}

function defaultJob(value: Fields): Fields {
  return {
    ...withDefaults(value, {
      parallelism: 1,
      completions: value['parallelism'] === undefined ? 1 : undefined,
      completionMode: 'NonIndexed',
      backoffLimit: 6,
      suspend: false,
      podReplacementPolicy: value['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed',
    }),
    template: defaultPodTemplate(value['template']),
  };
}

function defaultJobTemplate(value: unknown): Fields {
  const template = fieldsAt(value);
  const jobSpec = fieldsAt(template, 'spec');
  return {
    ...template,
    metadata: fieldsAt(template, 'metadata'),
    spec: { ...jobSpec, template: defaultPodTemplate(jobSpec['template']) },
  };
}

function tcpPort(port: Fields): Fields {
  return withDefaults(port, { protocol: 'TCP' });
}

function defaultService(value: Fields): Fields {
  const type = stringAt(value, 'type') === '' ? 'ClusterIP' : stringAt(value, 'type');
  const isExternal = type === 'NodePort' || type === 'LoadBalancer';
  const service = {
    ...withDefaults(value, {
      sessionAffinity: 'None',
      ...(type === 'ExternalName' ? {} : { internalTrafficPolicy: 'Cluster' }),
      ...(isExternal ? { externalTrafficPolicy: 'Cluster' } : {}),
      ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
    }),
    type,
  };
  return changeItems(service, 'ports', (port) =>
    withDefaults(withoutEmptyPort(port), { protocol: 'TCP', targetPort: port['port'] }),
  );
}

/** The port of a target that is 0 or empty counts as missing. */
function withoutEmptyPort(port: Fields): Fields {
  const target = port['targetPort'];
  return target === 0 || target === '' ? withoutFields(port, 'targetPort') : port;
}

function defaultSecret(object: ResourceObject): ResourceObject {
  const encoded: Record<string, string> = {};
  for (const [key, text] of Object.entries(stringsAt(object, 'stringData'))) {
    encoded[key] = Buffer.from(text).toString('base64');
  }
  const data = { ...fieldsAt(object, 'data'), ...encoded };
  const rest = withoutFields(object, 'stringData', 'data', 'type');
  return {
    ...rest,
    kind: object.kind,
    apiVersion: object.apiVersion,
    metadata: object.metadata,
    ...(Object.keys(data).length === 0 && object['data'] === undefined ? {} : { data }),
    type: stringAt(object, 'type') === '' ? 'Opaque' : object['type'],
  };
}

function defaultNetworkPolicy(value: Fields): Fields {
  const hasEgress = Array.isArray(value['egress']) && value['egress'].length > 0;
  const policyTypes = value['policyTypes'] ?? (hasEgress ? ['Ingress', 'Egress'] : ['Ingress']);
  const ports = (rule: Fields): Fields => changeItems(rule, 'ports', tcpPort);
  const policy = { podSelector: {}, ...value, policyTypes };
  return changeItems(changeItems(policy, 'ingress', ports), 'egress', ports);
}

function defaultLimit(limit: Fields): Fields {
  if (limit['type'] !== 'Container') return limit;
  const limits = { ...fieldsAt(limit, 'max'), ...fieldsAt(limit, 'default') };
  const requests = { ...fieldsAt(limit, 'min'), ...limits, ...fieldsAt(limit, 'defaultRequest') };
  return {
    ...limit,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  };
}

const RBAC_GROUP = 'rbac.authorization.k8s.io';

function defaultBinding(object: ResourceObject): ResourceObject {
  const bound = withItems(object, 'subjects', (subject) =>
    subject['kind'] === 'ServiceAccount' ? subject : withDefaults(subject, { apiGroup: RBAC_GROUP }),
  );
  return { ...bound, roleRef: withDefaults(object['roleRef'], { apiGroup: RBAC_GROUP }) };
}

function defaultWebhook(hook: Fields): Fields {
  const changed = withDefaults(hook, {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  });
  const withRules = changeItems(changed, 'rules', (rule) => withDefaults(rule, { scope: '*' }));
  return changeField(withRules, 'clientConfig', (config) =>
    isObject(config)
      ? changeField(config, 'service', (service) => withDefaults(service, { port: 443 }))
      : config,
  );
}

function defaultDefinition(value: Fields): Fields {
  const kind = stringAt(value, 'names', 'kind');
  const names = withDefaults(value['names'], { singular: kind.toLowerCase(), listKind: `${kind}List` });
  return { ...value, names, conversion: valueAt(value, 'conversion') ?? { strategy: 'None' } };
}
