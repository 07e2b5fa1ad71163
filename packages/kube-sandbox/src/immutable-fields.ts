import { isEvent } from './event-versions.ts';
import { equalJson, type Fields, fieldsAt, listAt, stringAt, valueAt, withoutFields } from './json-access.ts';
import type { ServedKind } from './kinds.ts';
import { invalidValue } from './object-names.ts';
import type { ResourceObject } from './resource-object.ts';
import { forbiddenField, type StatusCause } from './status-error.ts';
import { FieldErrors } from './validation/field-errors.ts';
import { validateChangedEvent } from './validation/validate-event.ts';

/** Fields that an update must leave as they are, by kind. */
const IMMUTABLE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  DaemonSet: ['spec.selector'],
  Deployment: ['spec.selector'],
  Job: ['spec.completions', 'spec.selector', 'spec.template', 'spec.completionMode'],
  ReplicaSet: ['spec.selector'],
  Secret: ['type'],
};

const MUTABLE_STATEFUL_SET_FIELDS: readonly string[] = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

/** Changes of immutable fields. */
export function immutableProblems(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  if (kind.isCustom) return [];
  return [
    ...changedFields(kind, current, next),
    ...statefulSetProblems(kind, current, next),
    ...frozenDataProblems(kind, current, next),
    ...roleRefProblems(kind, current, next),
    ...podProblems(kind, current, next),
    ...claimProblems(kind, current, next),
    ...eventProblems(kind, current, next),
  ];
}

function changedFields(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of IMMUTABLE_FIELDS[kind.kind] ?? []) {
    const path = field.split('.');
    const value = valueAt(next, ...path);
    if (!equalJson(valueAt(current, ...path), value))
      causes.push(invalidValue(field, value, 'field is immutable'));
  }
  return causes;
}

function statefulSetProblems(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  if (kind.kind !== 'StatefulSet') return [];
  const names = new Set([...Object.keys(Object(current['spec'])), ...Object.keys(Object(next['spec']))]);
  const isChanged = [...names].some(
    (name) =>
      !MUTABLE_STATEFUL_SET_FIELDS.includes(name) &&
      !equalJson(valueAt(current, 'spec', name), valueAt(next, 'spec', name)),
  );
  if (!isChanged) return [];
  const allowed =
    "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
  return [
    forbiddenField('spec', `updates to statefulset spec for fields other than ${allowed} are forbidden`),
  ];
}

function frozenDataProblems(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  if (kind.group !== '' || current['immutable'] !== true) return [];
  if (next['immutable'] !== true)
    return [forbiddenField('immutable', 'field is immutable when `immutable` is set')];
  return ['data', 'binaryData']
    .filter((field) => !equalJson(current[field], next[field]))
    .map((field) => forbiddenField(field, 'field is immutable when `immutable` is set'));
}

const POD_RULE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The API server adds how the specs differ, field by field of its internal type. */
function podProblems(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  if (kind.kind !== 'Pod' || equalJson(fixedPart(current), fixedPart(next))) return [];
  return [forbiddenField('spec', POD_RULE)];
}

/** The spec of a Pod without what may change. */
function fixedPart(pod: ResourceObject): Fields {
  const spec = fieldsAt(pod, 'spec');
  const withoutImages = (field: string): readonly Fields[] =>
    listAt(spec, field).map((container) => withoutFields(fieldsAt(container), 'image'));
  const rest = withoutFields(
    spec,
    'activeDeadlineSeconds',
    'tolerations',
    'terminationGracePeriodSeconds',
    'ephemeralContainers',
  );
  return {
    ...rest,
    containers: withoutImages('containers'),
    initContainers: withoutImages('initContainers'),
  };
}

const CLAIM_RULE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

function claimProblems(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  if (kind.kind !== 'PersistentVolumeClaim') return [];
  const fixed = (claim: ResourceObject): Fields =>
    withoutFields(fieldsAt(claim, 'spec'), 'resources', 'volumeAttributesClassName', 'volumeName');
  if (equalJson(fixed(current), fixed(next))) return [];
  return [forbiddenField('spec', CLAIM_RULE)];
}

function eventProblems(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  if (!isEvent(kind) || kind.group === '') return [];
  const errors = new FieldErrors();
  validateChangedEvent(current, next, errors);
  return errors.causes;
}

function roleRefProblems(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  if (kind.group !== 'rbac.authorization.k8s.io' || next['roleRef'] === undefined) return [];
  if (stringAt(next, 'roleRef', 'name') !== '' && equalJson(current['roleRef'], next['roleRef'])) return [];
  const { apiGroup, kind: kindName, name } = fieldsAt(next, 'roleRef');
  // In the order in which the API server shows the fields of its internal type.
  const shown = { APIGroup: apiGroup, Kind: kindName, Name: name };
  return [invalidValue('roleRef', shown, 'cannot change roleRef')];
}
