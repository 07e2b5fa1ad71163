import {
  type Fields,
  fieldsAt,
  listAt,
  numberAt,
  scalarText,
  stringAt,
  stringsAt,
  valueAt,
} from '../json-access.ts';
import type { FieldErrors, GoStruct } from './field-errors.ts';
import { dnsLabel, percent } from './name-rules.ts';
import { validateClaimSpec } from './validate-claim.ts';
import { isEmptySelector, selectorMatches, validateSelector } from './validate-meta.ts';
import { validatePodTemplate } from './validate-pod.ts';

const MISMATCH = '`selector` does not match template `labels`';

/** Checks the spec of a Deployment. */
export function validateDeployment(spec: Fields, errors: FieldErrors): void {
  errors.nonNegative('spec.replicas', spec['replicas']);
  validateOwnSelector(spec, 'deployment', errors);
  validateTemplate(spec, 'ReplicaSet', errors);
  validateDeploymentStrategy(fieldsAt(spec, 'strategy'), errors);
  errors.nonNegative('spec.minReadySeconds', spec['minReadySeconds']);
  errors.nonNegative('spec.revisionHistoryLimit', spec['revisionHistoryLimit']);
  const deadline = numberAt(spec, 'progressDeadlineSeconds');
  errors.nonNegative('spec.progressDeadlineSeconds', deadline);
  if (deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0))
    errors.invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds');
}

/** Checks the spec of a ReplicaSet. */
export function validateReplicaSet(spec: Fields, errors: FieldErrors): void {
  errors.nonNegative('spec.replicas', spec['replicas']);
  errors.nonNegative('spec.minReadySeconds', spec['minReadySeconds']);
  validateOwnSelector(spec, 'deployment', errors);
  validateTemplate(spec, 'ReplicaSet', errors);
}

function validateOwnSelector(spec: Fields, kind: string, errors: FieldErrors): void {
  const selector = spec['selector'];
  if (selector === undefined) {
    errors.required('spec.selector');
    return;
  }
  validateSelector(selector, 'spec.selector', errors);
  if (isEmptySelector(selector))
    errors.invalid('spec.selector', selector, `empty selector is invalid for ${kind}`);
}

function labelsOf(spec: Fields): Fields | undefined {
  const labels = valueAt(spec, 'template', 'metadata', 'labels');
  return labels === undefined ? undefined : stringsAt(labels);
}

function validateTemplate(spec: Fields, kind: string, errors: FieldErrors): void {
  const labels = labelsOf(spec);
  const selector = spec['selector'];
  const isMatch = selectorMatches(selector, labels ?? {});
  if (isMatch === undefined) {
    errors.invalid('spec.selector', selector, kind === 'StatefulSet' ? '' : 'invalid label selector');
    return;
  }
  // A missing selector matches nothing, an empty one everything.
  if (selector === undefined || !isMatch) errors.invalid('spec.template.metadata.labels', labels, MISMATCH);
  validatePodTemplate(fieldsAt(spec, 'template'), 'spec.template', errors);
  if (kind === 'ReplicaSet') validateRunsAlways(spec, kind, errors);
}

function validateRunsAlways(spec: Fields, kind: string, errors: FieldErrors): void {
  const policy = stringAt(spec, 'template', 'spec', 'restartPolicy');
  if (policy !== 'Always') errors.notSupported('spec.template.spec.restartPolicy', policy, ['Always']);
  if (valueAt(spec, 'template', 'spec', 'activeDeadlineSeconds') !== undefined)
    errors.forbidden(
      'spec.template.spec.activeDeadlineSeconds',
      `activeDeadlineSeconds in ${kind} is not Supported`,
    );
}

function validateDeploymentStrategy(strategy: Fields, errors: FieldErrors): void {
  const path = 'spec.strategy.rollingUpdate';
  const rolling = fieldsAt(strategy, 'rollingUpdate');
  switch (strategy['type']) {
    case 'Recreate':
      if (strategy['rollingUpdate'] !== undefined)
        errors.forbidden(path, "may not be specified when strategy `type` is 'Recreate'");
      break;
    case 'RollingUpdate':
      validateIntOrPercent(rolling['maxUnavailable'], `${path}.maxUnavailable`, errors);
      validateIntOrPercent(rolling['maxSurge'], `${path}.maxSurge`, errors);
      if (amount(rolling['maxUnavailable']) === 0 && amount(rolling['maxSurge']) === 0)
        errors.invalid(
          `${path}.maxUnavailable`,
          rolling['maxUnavailable'],
          'may not be 0 when `maxSurge` is 0',
        );
      validateAtMostAll(rolling['maxUnavailable'], `${path}.maxUnavailable`, errors);
      break;
    default:
      errors.notSupported('spec.strategy', goStrategy(strategy), ['Recreate', 'RollingUpdate']);
  }
}

/** A strategy as the API server shows it: by the names of its internal type. */
function goStrategy(strategy: Fields): GoStruct {
  return new Map([
    ['Type', strategy['type'] ?? ''],
    ['RollingUpdate', strategy['rollingUpdate'] ?? null],
  ]);
}

/** A number of pods, or a part of them. */
export function validateIntOrPercent(value: unknown, path: string, errors: FieldErrors): void {
  if (typeof value === 'string') errors.invalidEach(path, value, percent(value));
  else errors.nonNegative(path, value);
}

export function validateAtMostAll(value: unknown, path: string, errors: FieldErrors): void {
  if (typeof value === 'string' && percent(value).length === 0 && amount(value) > 100)
    errors.invalid(path, value, 'must not be greater than 100%');
}

function amount(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? Number.parseInt(value, 10) || 0 : 0;
}

/** Checks the spec of a DaemonSet. */
export function validateDaemonSet(spec: Fields, errors: FieldErrors): void {
  const selector = spec['selector'];
  validateSelector(selector, 'spec.selector', errors);
  const labels = labelsOf(spec);
  const isMatch = selector === undefined ? false : selectorMatches(selector, labels ?? {});
  if (isMatch === false) errors.invalid('spec.template.metadata.labels', labels, MISMATCH);
  if (selector !== undefined && isEmptySelector(selector))
    errors.invalid('spec.selector', selector, 'empty selector is invalid for daemonset');
  validatePodTemplate(fieldsAt(spec, 'template'), 'spec.template', errors);
  validateRunsAlways(spec, 'DaemonSet', errors);
  errors.nonNegative('spec.minReadySeconds', spec['minReadySeconds']);
  validateDaemonSetStrategy(fieldsAt(spec, 'updateStrategy'), errors);
  errors.nonNegative('spec.revisionHistoryLimit', spec['revisionHistoryLimit']);
}

function validateDaemonSetStrategy(strategy: Fields, errors: FieldErrors): void {
  const path = 'spec.updateStrategy.rollingUpdate';
  if (strategy['type'] === 'OnDelete') return;
  if (strategy['type'] !== 'RollingUpdate') {
    errors.notSupported('spec.updateStrategy', goStrategy(strategy), ['RollingUpdate', 'OnDelete']);
    return;
  }
  const { maxUnavailable, maxSurge } = fieldsAt(strategy, 'rollingUpdate');
  validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`, errors);
  validateIntOrPercent(maxSurge, `${path}.maxSurge`, errors);
  validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`, errors);
  validateAtMostAll(maxSurge, `${path}.maxSurge`, errors);
  if (amount(maxUnavailable) !== 0 && amount(maxSurge) !== 0)
    errors.invalid(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero');
  else if (amount(maxUnavailable) === 0 && amount(maxSurge) === 0)
    errors.required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0');
}

const RETENTION = ['Retain', 'Delete'];

/** Checks the spec of a StatefulSet. `isUpdate`: what is immutable was checked when it was created. */
export function validateStatefulSet(spec: Fields, errors: FieldErrors, isUpdate: boolean): void {
  const management = stringAt(spec, 'podManagementPolicy');
  if (management !== 'OrderedReady' && management !== 'Parallel')
    errors.invalid('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'");
  validateStatefulSetStrategy(fieldsAt(spec, 'updateStrategy'), errors);
  for (const field of ['whenDeleted', 'whenScaled']) {
    const policy = valueAt(spec, 'persistentVolumeClaimRetentionPolicy', field);
    if (policy !== undefined && !RETENTION.includes(scalarText(policy)))
      errors.notSupported(`spec.persistentVolumeClaimRetentionPolicy.${field}`, policy, RETENTION);
  }
  if (!isUpdate) {
    for (const [index, claim] of listAt(spec, 'volumeClaimTemplates').entries())
      validateClaimSpec(fieldsAt(claim, 'spec'), `spec.volumeClaimTemplates[${index}].spec`, errors);
  }
  errors.nonNegative('spec.replicas', spec['replicas']);
  errors.nonNegative('spec.minReadySeconds', spec['minReadySeconds']);
  errors.nonNegative('spec.ordinals.start', valueAt(spec, 'ordinals', 'start'));
  const serviceName = stringAt(spec, 'serviceName');
  if (!isUpdate && serviceName !== '')
    errors.invalidEach('spec.serviceName', serviceName, dnsLabel(serviceName));
  validateOwnSelector(spec, 'statefulset', errors);
  validateTemplate(withClaimVolumes(spec), 'StatefulSet', errors);
  validateRunsAlways(spec, 'StatefulSet', errors);
}

/** The claims of a StatefulSet are volumes of its pods. */
function withClaimVolumes(spec: Fields): Fields {
  const names = listAt(spec, 'volumeClaimTemplates').map((claim) => stringAt(claim, 'metadata', 'name'));
  if (names.length === 0) return spec;
  const others = listAt(spec, 'template', 'spec', 'volumes').filter(
    (volume) => !names.includes(stringAt(volume, 'name')),
  );
  const volumes = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const template = fieldsAt(spec, 'template');
  const podSpec = { ...fieldsAt(template, 'spec'), volumes: [...volumes, ...others] };
  return { ...spec, template: { ...template, spec: podSpec } };
}

function validateStatefulSetStrategy(strategy: Fields, errors: FieldErrors): void {
  const path = 'spec.updateStrategy.rollingUpdate';
  const rolling = fieldsAt(strategy, 'rollingUpdate');
  switch (strategy['type']) {
    case 'OnDelete':
      if (strategy['rollingUpdate'] !== undefined)
        errors.invalid(path, goRollingUpdate(rolling), "only allowed for updateStrategy 'RollingUpdate'");
      break;
    case 'RollingUpdate':
      errors.nonNegative(`${path}.partition`, rolling['partition']);
      break;
    default:
      errors.invalid('spec.updateStrategy', goStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'");
  }
}

function goRollingUpdate(rolling: Fields): GoStruct {
  return new Map([
    ['Partition', rolling['partition'] ?? 0],
    ['MaxUnavailable', rolling['maxUnavailable'] ?? null],
  ]);
}
