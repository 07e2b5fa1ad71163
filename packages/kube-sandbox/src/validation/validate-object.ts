import { coreEvent, isEvent } from '../event-versions.ts';
import { isNamespace, type ServedKind } from '../kinds.ts';
import type { ResourceObject } from '../resource-object.ts';
import type { StatusCause } from '../status-error.ts';
import { Field } from './field.ts';
import {
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateStatefulSet,
} from './validate-apps.ts';
import { validateCronJob, validateJob } from './validate-batch.ts';
import { validateClaimSpec } from './validate-claim.ts';
import { validateConfigMap, validateNamespace, validateSecret, validateService } from './validate-core.ts';
import { validateEvent, validateNewEvent } from './validate-event.ts';
import { validateFinalizerDomains, validateMeta } from './validate-meta.ts';
import { validateIngress, validateNetworkPolicy } from './validate-networking.ts';
import { validatePodSpec, validatePodTemplate } from './validate-pod.ts';
import { validateBinding, validateRole } from './validate-rbac.ts';
import { validateAutoscaler, validateDisruptionBudget } from './validate-scaling.ts';
import { validateBySchema } from './validate-schema.ts';

type Check = (field: Field, isUpdate: boolean) => void;

function ofSpec(check: Check): Check {
  return (object, isUpdate) => check(object.at('spec'), isUpdate);
}

/** Checks beyond types and metadata, by kind. */
const CHECKS: Readonly<Record<string, Check>> = {
  ConfigMap: validateConfigMap,
  Secret: validateSecret,
  Service: ofSpec(validateService),
  PersistentVolumeClaim: ofSpec(validateClaimSpec),
  Pod: ofSpec(validatePodSpec),
  PodTemplate: (object) => validatePodTemplate(object.at('template')),
  Deployment: ofSpec(validateDeployment),
  ReplicaSet: ofSpec(validateReplicaSet),
  StatefulSet: ofSpec(validateStatefulSet),
  DaemonSet: ofSpec(validateDaemonSet),
  Job: validateJob,
  CronJob: validateCronJob,
  Ingress: ofSpec(validateIngress),
  NetworkPolicy: ofSpec(validateNetworkPolicy),
  PodDisruptionBudget: ofSpec(validateDisruptionBudget),
  HorizontalPodAutoscaler: ofSpec(validateAutoscaler),
  Role: validateRole,
  ClusterRole: validateRole,
  RoleBinding: validateBinding,
  ClusterRoleBinding: validateBinding,
};

/** How often the API server reports each problem of metadata on an update, and each other problem: some checks repeat. */
const REPORTED_ON_UPDATE: Readonly<Record<string, readonly [ofMeta: number, ofRest: number]>> = {
  ConfigMap: [4, 1],
  Ingress: [4, 1],
  Job: [3, 2],
  NetworkPolicy: [4, 1],
  PersistentVolumeClaim: [5, 2],
  Pod: [4, 1],
  Secret: [4, 1],
  ServiceAccount: [4, 1],
  ClusterRole: [5, 2],
  ClusterRoleBinding: [5, 2],
  Role: [5, 2],
  RoleBinding: [5, 2],
};

/**
 * Problems of an object whose types were checked and whose defaults are filled in, as causes of a 422. Creates,
 * updates and applies call this before they commit. The OpenAPI schema says nothing of these rules for built-in kinds: each
 * kind has its checks in code, in the words and the order of the API server. Custom resources are checked by the schema of
 * their definition.
 */
export function objectProblems(
  kind: ServedKind,
  object: ResourceObject,
  isUpdate: boolean,
): readonly StatusCause[] {
  if (isEvent(kind)) return eventProblems(kind, object, isUpdate);
  const meta = new Field(object);
  validateMeta(meta, kind, isUpdate);
  if (!isUpdate && !kind.isCustom) validateFinalizerDomains(meta);
  const rest = new Field(object);
  if (isNamespace(kind)) validateNamespace(rest);
  else if (!kind.isCustom) CHECKS[kind.kind]?.(rest, isUpdate);
  if (kind.schema !== undefined) validateBySchema(rest, kind.schema);
  if (!isUpdate || kind.isCustom) return [...meta.causes, ...rest.causes];
  const [ofMeta, ofRest] = REPORTED_ON_UPDATE[kind.kind] ?? [3, 1];
  return [...repeated(meta.causes, ofMeta), ...repeated(rest.causes, ofRest)];
}

/** Of an Event the API server checks the metadata last, and through `v1` only if everything else is right. */
function eventProblems(kind: ServedKind, object: ResourceObject, isUpdate: boolean): readonly StatusCause[] {
  const event = new Field(coreEvent(object));
  validateEvent(event, kind);
  if (!isUpdate && kind.group === '' && event.causes.length > 0) return event.causes;
  const metaReports = isUpdate ? (kind.group === '' ? 2 : 3) : 1;
  for (let count = 0; count < metaReports; count += 1) validateMeta(event, kind, isUpdate);
  if (!isUpdate && kind.group !== '') {
    validateFinalizerDomains(event);
    validateNewEvent(event);
  }
  return event.causes;
}

function repeated(causes: readonly StatusCause[], times: number): readonly StatusCause[] {
  return Array.from({ length: times }, () => causes).flat();
}
