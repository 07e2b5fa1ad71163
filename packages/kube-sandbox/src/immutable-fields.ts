import { equalJson, stringAt, valueAt } from './json-access.ts';
import type { ServedKind } from './kinds.ts';
import { invalidValue } from './object-names.ts';
import type { ResourceObject } from './resource-object.ts';
import { forbiddenField, invalid, type StatusCause } from './status-error.ts';

/** Fields that an update must leave as they are, by kind. */
const IMMUTABLE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  DaemonSet: ['spec.selector'],
  Deployment: ['spec.selector'],
  Job: ['spec.completions', 'spec.selector', 'spec.template'],
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

/**
 * Refuses changes of immutable fields.
 *
 * @throws StatusError 422
 */
export function checkImmutableFields(kind: ServedKind, current: ResourceObject, next: ResourceObject): void {
  if (kind.isCustom) return;
  const causes = [
    ...changedFields(kind, current, next),
    ...statefulSetProblems(kind, current, next),
    ...frozenDataProblems(kind, current, next),
    ...roleRefProblems(kind, current, next),
  ];
  if (causes.length > 0)
    throw invalid({ group: kind.group, kind: kind.kind, name: current.metadata.name }, causes);
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

function roleRefProblems(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  if (kind.group !== 'rbac.authorization.k8s.io' || next['roleRef'] === undefined) return [];
  if (stringAt(next, 'roleRef', 'name') !== '' && equalJson(current['roleRef'], next['roleRef'])) return [];
  return [invalidValue('roleRef', next['roleRef'], 'cannot change roleRef')];
}
