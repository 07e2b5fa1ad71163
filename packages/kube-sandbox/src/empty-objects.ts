import { EMPTY_CORE_EVENT, EMPTY_EVENT, isEvent } from './event-versions.ts';
import type { Fields } from './json-access.ts';
import type { ServedKind } from './kinds.ts';

const TEMPLATE: Fields = { metadata: {}, spec: { containers: [] } };
const ROLE_REF: Fields = { apiGroup: '', kind: '', name: '' };

/** Parts that an object of a kind has even when it is empty: filling them makes no manager their owner. */
const SPECS: Readonly<Record<string, Fields>> = {
  CronJob: { jobTemplate: { metadata: {}, spec: { template: TEMPLATE } }, schedule: '' },
  CustomResourceDefinition: { names: { kind: '', plural: '' }, group: '', scope: '', versions: [] },
  DaemonSet: { template: TEMPLATE, updateStrategy: {} },
  Deployment: { template: TEMPLATE, strategy: {} },
  HorizontalPodAutoscaler: { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 },
  Job: { template: TEMPLATE },
  LimitRange: { limits: [] },
  NetworkPolicy: { podSelector: {} },
  PersistentVolumeClaim: { resources: {} },
  Pod: { containers: [] },
  ReplicaSet: { template: TEMPLATE },
  StatefulSet: { template: TEMPLATE, updateStrategy: {}, serviceName: '' },
};

/** A new object of a kind before anything is written into it. */
export function emptyObject(kind: ServedKind): Fields {
  if (kind.isCustom) return { metadata: {} };
  const hasSpec = kind.fields?.includes('spec') === true;
  return {
    metadata: {},
    ...(hasSpec ? { spec: SPECS[kind.kind] ?? {} } : {}),
    ...(kind.hasStatus
      ? { status: kind.kind === 'Service' || kind.kind === 'Ingress' ? { loadBalancer: {} } : {} }
      : {}),
    ...(isEvent(kind) ? (kind.group === '' ? EMPTY_CORE_EVENT : EMPTY_EVENT) : {}),
    ...(kind.kind.endsWith('RoleBinding') ? { roleRef: ROLE_REF } : {}),
  };
}
