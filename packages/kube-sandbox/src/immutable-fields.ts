import { coreEvent, isEvent } from './event-versions.ts';
import { equalJson, type Fields, fieldsAt, listAt, valueAt, withoutFields } from './json-access.ts';
import type { ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';
import type { StatusCause } from './status-error.ts';
import { Field } from './validation/field.ts';
import { validateChangedEvent } from './validation/validate-event.ts';

/** Fields that an update must leave as they are, by kind. */
const IMMUTABLE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  DaemonSet: ['spec.selector'],
  Deployment: ['spec.selector'],
  Job: ['spec.completions', 'spec.selector', 'spec.template', 'spec.completionMode'],
  ReplicaSet: ['spec.selector'],
  Secret: ['type'],
};

/** Kinds of whose spec only a part may change: what must not, and what is reported then. */
const FIXED_SPECS: Readonly<
  Record<string, { readonly fixed: (spec: Fields) => Fields; readonly rule: string }>
> = {
  StatefulSet: {
    fixed: (spec) =>
      withoutFields(
        spec,
        'replicas',
        'ordinals',
        'template',
        'updateStrategy',
        'revisionHistoryLimit',
        'persistentVolumeClaimRetentionPolicy',
        'minReadySeconds',
      ),
    rule: "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
  },
  // Of the next two the API server adds how the specs differ, field by field of its internal type.
  Pod: {
    fixed: fixedPodSpec,
    rule: 'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
  },
  PersistentVolumeClaim: {
    fixed: (spec) => withoutFields(spec, 'resources', 'volumeAttributesClassName', 'volumeName'),
    rule: 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
  },
};

/** Changes of immutable fields, as causes of a 422. */
export function immutableProblems(
  kind: ServedKind,
  current: ResourceObject,
  next: ResourceObject,
): readonly StatusCause[] {
  if (kind.isCustom) return [];
  const object = new Field(next);
  for (const path of IMMUTABLE_FIELDS[kind.kind] ?? []) {
    const field = object.at(...path.split('.'));
    if (!equalJson(valueAt(current, ...path.split('.')), field.value)) field.invalid('field is immutable');
  }
  const spec = object.at('spec');
  const { fixed, rule = '' } = FIXED_SPECS[kind.kind] ?? {};
  if (fixed !== undefined && !equalJson(fixed(fieldsAt(current, 'spec')), fixed(spec.fields)))
    spec.forbidden(rule);
  if (kind.group === '' && current['immutable'] === true) checkFrozenData(current, object);
  if (kind.group === 'rbac.authorization.k8s.io') checkRoleRef(current, object.at('roleRef'));
  if (isEvent(kind) && kind.group !== '')
    validateChangedEvent(coreEvent(current), object.named('', coreEvent(next)));
  return object.causes;
}

function checkFrozenData(current: ResourceObject, object: Field): void {
  const rule = 'field is immutable when `immutable` is set';
  if (object.at('immutable').value !== true) object.at('immutable').forbidden(rule);
  else {
    for (const data of ['data', 'binaryData'])
      if (!equalJson(current[data], object.at(data).value)) object.at(data).forbidden(rule);
  }
}

/** The spec of a Pod without what may change. */
function fixedPodSpec(spec: Fields): Fields {
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

function checkRoleRef(current: ResourceObject, roleRef: Field): void {
  if (!roleRef.isSet) return;
  const { apiGroup = '', kind = '', name = '' } = roleRef.fields;
  if (roleRef.at('name').string !== '' && equalJson(current['roleRef'], roleRef.value)) return;
  // In the order in which the API server shows the fields of its internal type.
  const shown = new Map(Object.entries({ APIGroup: apiGroup, Kind: kind, Name: name }));
  roleRef.invalid('cannot change roleRef', shown);
}
