import { isEvent } from '../event-versions.ts';
import { fieldsAt } from '../json-access.ts';
import { isNamespace, type ServedKind } from '../kinds.ts';
import type { ResourceObject } from '../resource-object.ts';
import type { StatusCause } from '../status-error.ts';
import { FieldErrors } from './field-errors.ts';
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

type Check = (object: ResourceObject, errors: FieldErrors, isUpdate: boolean) => void;
type SpecCheck = (spec: ReturnType<typeof fieldsAt>, errors: FieldErrors, isUpdate: boolean) => void;

function ofSpec(check: SpecCheck): Check {
  return (object, errors, isUpdate) => check(fieldsAt(object, 'spec'), errors, isUpdate);
}

/** What is checked beyond types and metadata, by kind. */
const CHECKS: Readonly<Record<string, Check>> = {
  ConfigMap: validateConfigMap,
  Secret: validateSecret,
  Service: ofSpec(validateService),
  PersistentVolumeClaim: ofSpec((spec, errors) => validateClaimSpec(spec, 'spec', errors)),
  Pod: ofSpec((spec, errors) => validatePodSpec(spec, 'spec', errors)),
  PodTemplate: (object, errors) => validatePodTemplate(fieldsAt(object, 'template'), 'template', errors),
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

/** What is wrong with an object whose types were checked and whose defaults are filled in. */
export function objectProblems(
  kind: ServedKind,
  object: ResourceObject,
  isUpdate: boolean,
): readonly StatusCause[] {
  if (isEvent(kind)) return eventProblems(kind, object, isUpdate);
  const meta = new FieldErrors();
  validateMeta(object, kind, meta, isUpdate);
  if (!isUpdate && !kind.isCustom) validateFinalizerDomains(object, meta);
  const rest = new FieldErrors();
  if (isNamespace(kind)) validateNamespace(object, rest);
  else if (!kind.isCustom) CHECKS[kind.kind]?.(object, rest, isUpdate);
  if (kind.schema !== undefined) validateBySchema(object, kind.schema, rest);
  if (!isUpdate || kind.isCustom) return [...meta.causes, ...rest.causes];
  const [ofMeta, ofRest] = REPORTED_ON_UPDATE[kind.kind] ?? [3, 1];
  return [...repeated(meta.causes, ofMeta), ...repeated(rest.causes, ofRest)];
}

/** Of an Event the API server checks the metadata last, and through `v1` only if everything else is right. */
function eventProblems(kind: ServedKind, object: ResourceObject, isUpdate: boolean): readonly StatusCause[] {
  const errors = new FieldErrors();
  validateEvent(object, kind, errors);
  if (!isUpdate && kind.group === '' && errors.count > 0) return errors.causes;
  const metaReports = isUpdate ? (kind.group === '' ? 2 : 3) : 1;
  for (let count = 0; count < metaReports; count += 1) validateMeta(object, kind, errors, isUpdate);
  if (!isUpdate && kind.group !== '') {
    validateFinalizerDomains(object, errors);
    validateNewEvent(object, errors);
  }
  return errors.causes;
}

function repeated(causes: readonly StatusCause[], times: number): readonly StatusCause[] {
  return Array.from({ length: times }, () => causes).flat();
}
