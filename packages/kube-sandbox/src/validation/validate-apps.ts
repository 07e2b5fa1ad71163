import { type Fields, fieldsAt, listAt, stringAt, stringsAt } from '../json-access.ts';
import type { Field, GoStruct } from './field.ts';
import { dnsLabel, percent } from './name-rules.ts';
import { validateClaimSpec } from './validate-claim.ts';
import { isEmptySelector, selectorMatches, validateSelector } from './validate-meta.ts';
import { validatePodTemplate } from './validate-pod.ts';

/** Checks the spec of a Deployment. */
export function validateDeployment(spec: Field): void {
  spec.at('replicas').nonNegative();
  validateOwnSelector(spec, 'deployment');
  validateTemplate(spec, 'ReplicaSet');
  validateDeploymentStrategy(spec.at('strategy'));
  spec.at('minReadySeconds').nonNegative();
  spec.at('revisionHistoryLimit').nonNegative();
  const deadline = spec.at('progressDeadlineSeconds');
  deadline.nonNegative();
  if (deadline.number !== undefined && deadline.number <= (spec.at('minReadySeconds').number ?? 0))
    deadline.invalid('must be greater than minReadySeconds');
}

/** Checks the spec of a ReplicaSet. */
export function validateReplicaSet(spec: Field): void {
  spec.at('replicas').nonNegative();
  spec.at('minReadySeconds').nonNegative();
  validateOwnSelector(spec, 'deployment');
  validateTemplate(spec, 'ReplicaSet');
}

function validateOwnSelector(spec: Field, kind: string): void {
  const selector = spec.at('selector');
  if (!selector.isSet) {
    selector.required();
    return;
  }
  validateSelector(selector);
  if (isEmptySelector(selector.value)) selector.invalid(`empty selector is invalid for ${kind}`);
}

/** Whether the selector selects the pods of the template; undefined if it cannot be read. A missing one selects none. */
function selectsOwnPods(spec: Field): boolean | undefined {
  const selector = spec.at('selector');
  if (!selector.isSet) return false;
  return selectorMatches(selector.value, stringsAt(spec.value, 'template', 'metadata', 'labels'));
}

/** Reports a template whose labels the selector does not select. */
export function reportMismatch(spec: Field): void {
  const labels = spec.at('template', 'metadata', 'labels');
  labels.invalid('`selector` does not match template `labels`');
}

function validateTemplate(spec: Field, kind: string): void {
  const isSelected = selectsOwnPods(spec);
  if (isSelected === undefined) {
    spec.at('selector').invalid(kind === 'StatefulSet' ? '' : 'invalid label selector');
    return;
  }
  if (!isSelected) reportMismatch(spec);
  validatePodTemplate(spec.at('template'));
  if (kind === 'ReplicaSet') validateRunsAlways(spec, kind);
}

function validateRunsAlways(spec: Field, kind: string): void {
  const podSpec = spec.at('template', 'spec');
  const policy = podSpec.at('restartPolicy');
  if (policy.string !== 'Always') policy.notSupported(['Always'], policy.string);
  const deadline = podSpec.at('activeDeadlineSeconds');
  if (deadline.isSet) deadline.forbidden(`activeDeadlineSeconds in ${kind} is not Supported`);
}

function validateDeploymentStrategy(strategy: Field): void {
  const rolling = strategy.at('rollingUpdate');
  const maxUnavailable = rolling.at('maxUnavailable');
  const maxSurge = rolling.at('maxSurge');
  switch (strategy.at('type').value) {
    case 'Recreate':
      if (rolling.isSet) rolling.forbidden("may not be specified when strategy `type` is 'Recreate'");
      break;
    case 'RollingUpdate':
      validateIntOrPercent(maxUnavailable);
      validateIntOrPercent(maxSurge);
      if (amount(maxUnavailable) === 0 && amount(maxSurge) === 0)
        maxUnavailable.invalid('may not be 0 when `maxSurge` is 0');
      validateAtMostAll(maxUnavailable);
      break;
    default:
      strategy.notSupported(['Recreate', 'RollingUpdate'], goStrategy(strategy));
  }
}

/** A strategy as the API server shows it: by the names of its internal type. */
function goStrategy({ fields }: Field): GoStruct {
  return new Map([
    ['Type', fields['type'] ?? ''],
    ['RollingUpdate', fields['rollingUpdate'] ?? null],
  ]);
}

/** A number of pods, or a part of them. */
export function validateIntOrPercent(count: Field): void {
  if (typeof count.value === 'string') count.check(percent(count.value));
  else count.nonNegative();
}

/** A number of pods that is not more than all of them. */
export function validateAtMostAll(count: Field): void {
  if (typeof count.value === 'string' && percent(count.value).length === 0 && amount(count) > 100)
    count.invalid('must not be greater than 100%');
}

function amount({ value }: Field): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? Number.parseInt(value, 10) || 0 : 0;
}

/** Checks the spec of a DaemonSet. */
export function validateDaemonSet(spec: Field): void {
  const selector = spec.at('selector');
  validateSelector(selector);
  if (selectsOwnPods(spec) === false) reportMismatch(spec);
  if (selector.isSet && isEmptySelector(selector.value))
    selector.invalid('empty selector is invalid for daemonset');
  validatePodTemplate(spec.at('template'));
  validateRunsAlways(spec, 'DaemonSet');
  spec.at('minReadySeconds').nonNegative();
  validateDaemonSetStrategy(spec.at('updateStrategy'));
  spec.at('revisionHistoryLimit').nonNegative();
}

function validateDaemonSetStrategy(strategy: Field): void {
  const type = strategy.at('type').value;
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    strategy.notSupported(['RollingUpdate', 'OnDelete'], goStrategy(strategy));
    return;
  }
  const maxUnavailable = strategy.at('rollingUpdate', 'maxUnavailable');
  const maxSurge = strategy.at('rollingUpdate', 'maxSurge');
  validateIntOrPercent(maxUnavailable);
  validateIntOrPercent(maxSurge);
  validateAtMostAll(maxUnavailable);
  validateAtMostAll(maxSurge);
  if (amount(maxUnavailable) !== 0 && amount(maxSurge) !== 0)
    maxSurge.invalid('may not be set when maxUnavailable is non-zero');
  else if (amount(maxUnavailable) === 0 && amount(maxSurge) === 0)
    maxUnavailable.required('cannot be 0 when maxSurge is 0');
}

/** Checks the spec of a StatefulSet. `isUpdate`: what is immutable was checked when it was created. */
export function validateStatefulSet(spec: Field, isUpdate: boolean): void {
  const management = spec.at('podManagementPolicy');
  if (management.string !== 'OrderedReady' && management.string !== 'Parallel')
    management.invalid("must be 'OrderedReady' or 'Parallel'", management.string);
  validateStatefulSetStrategy(spec.at('updateStrategy'));
  for (const field of ['whenDeleted', 'whenScaled'])
    spec.at('persistentVolumeClaimRetentionPolicy', field).oneOfIfSet(['Retain', 'Delete']);
  for (const claim of isUpdate ? [] : spec.at('volumeClaimTemplates').items)
    validateClaimSpec(claim.at('spec'));
  spec.at('replicas').nonNegative();
  spec.at('minReadySeconds').nonNegative();
  spec.at('ordinals', 'start').nonNegative();
  if (!isUpdate) spec.at('serviceName').checkIfSet(dnsLabel);
  validateOwnSelector(spec, 'statefulset');
  validateTemplate(spec.named(spec.path, withClaimVolumes(spec.fields)), 'StatefulSet');
  validateRunsAlways(spec, 'StatefulSet');
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

function validateStatefulSetStrategy(strategy: Field): void {
  const rolling = strategy.at('rollingUpdate');
  switch (strategy.at('type').value) {
    case 'OnDelete':
      if (rolling.isSet)
        rolling.invalid("only allowed for updateStrategy 'RollingUpdate'", goRollingUpdate(rolling));
      break;
    case 'RollingUpdate':
      rolling.at('partition').nonNegative();
      break;
    default:
      strategy.invalid("must be 'RollingUpdate' or 'OnDelete'", goStrategy(strategy));
  }
}

function goRollingUpdate({ fields }: Field): GoStruct {
  return new Map([
    ['Partition', fields['partition'] ?? 0],
    ['MaxUnavailable', fields['maxUnavailable'] ?? null],
  ]);
}
