import { type Fields, fieldsAt, listAt, numberAt, stringAt, stringsAt, valueAt } from '../json-access.ts';
import type { FieldErrors } from './field-errors.ts';
import { dnsLabel, dnsSubdomain, inRange, labelValue, qualifiedName } from './name-rules.ts';
import {
  type ContainerScope,
  validateContainer,
  validateHandler,
  validateProbe,
} from './validate-container.ts';
import { validateAnnotations, validateLabels, validateSelector } from './validate-meta.ts';
import { validateVolumes } from './validate-volumes.ts';

const MAX_INT32 = 2_147_483_647;
const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Checks a pod template, with its defaults filled in. */
export function validatePodTemplate(template: Fields, path: string, errors: FieldErrors): void {
  validateLabels(stringsAt(template, 'metadata', 'labels'), `${path}.labels`, errors);
  validateAnnotations(stringsAt(template, 'metadata', 'annotations'), `${path}.annotations`, errors);
  validatePodSpec(fieldsAt(template, 'spec'), `${path}.spec`, errors);
  if (listAt(template, 'spec', 'ephemeralContainers').length > 0)
    errors.forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template');
}

/** Checks a pod spec, with its defaults filled in. */
export function validatePodSpec(spec: Fields, path: string, errors: FieldErrors): void {
  const volumes = validateVolumes(listAt(spec, 'volumes'), `${path}.volumes`, errors);
  const scope: ContainerScope = {
    volumes,
    gracePeriodSeconds: numberAt(spec, 'terminationGracePeriodSeconds'),
  };
  validateContainers(listAt(spec, 'containers'), scope, `${path}.containers`, errors);
  validateInitContainers(spec, scope, `${path}.initContainers`, errors);
  validateHostPorts(spec, path, errors);
  errors.oneOf(`${path}.restartPolicy`, spec['restartPolicy'], RESTART_POLICIES);
  errors.oneOf(`${path}.dnsPolicy`, spec['dnsPolicy'], DNS_POLICIES);
  validateLabels(stringsAt(spec, 'nodeSelector'), `${path}.nodeSelector`, errors);
  validateSecurityContext(fieldsAt(spec, 'securityContext'), `${path}.securityContext`, errors);
  for (const [index, gate] of listAt(spec, 'readinessGates').entries())
    errors.invalidEach(
      `${path}.readinessGates[${index}].conditionType`,
      stringAt(gate, 'conditionType'),
      qualifiedName(stringAt(gate, 'conditionType')),
    );
  validateSpreading(listAt(spec, 'topologySpreadConstraints'), `${path}.topologySpreadConstraints`, errors);
  validateReferences(spec, path, errors);
  validateTolerations(listAt(spec, 'tolerations'), `${path}.tolerations`, errors);
}

function validateContainers(
  containers: readonly unknown[],
  scope: ContainerScope,
  path: string,
  errors: FieldErrors,
): void {
  if (containers.length === 0) errors.required(path);
  const names = new Set<string>();
  for (const [index, item] of containers.entries()) {
    const container = fieldsAt(item);
    const place = `${path}[${index}]`;
    validateContainer(container, scope, place, errors);
    errors.unique(`${place}.name`, stringAt(container, 'name'), names);
    validateRunning(container, scope, place, errors);
  }
  validateUniqueHostPorts(containers, path, errors);
}

/** What containers have that run as long as the pod. */
function validateRunning(container: Fields, scope: ContainerScope, path: string, errors: FieldErrors): void {
  for (const handler of ['postStart', 'preStop']) {
    const value = valueAt(container, 'lifecycle', handler);
    if (value !== undefined) validateHandler(fieldsAt(value), scope, `${path}.lifecycle.${handler}`, errors);
  }
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe'])
    validateProbe(container, probe, scope, path, errors);
}

const PROBES = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'];

function validateInitContainers(
  spec: Fields,
  scope: ContainerScope,
  path: string,
  errors: FieldErrors,
): void {
  const names = new Set(listAt(spec, 'containers').map((container) => stringAt(container, 'name')));
  for (const [index, item] of listAt(spec, 'initContainers').entries()) {
    const container = fieldsAt(item);
    const place = `${path}[${index}]`;
    validateContainer(container, scope, place, errors);
    const policy = container['restartPolicy'];
    if (policy !== undefined && policy !== 'Always')
      errors.notSupported(`${place}.restartPolicy`, policy, ['Always']);
    const name = stringAt(container, 'name');
    if (names.has(name)) errors.duplicate(`${place}.name`, name);
    else if (name !== '') names.add(name);
    if (policy === 'Always') validateRunning(container, scope, place, errors);
    else {
      for (const field of PROBES.filter((probe) => container[probe] !== undefined))
        errors.forbidden(
          `${place}.${field}`,
          'may not be set for init containers without restartPolicy=Always',
        );
    }
  }
}

function validateUniqueHostPorts(containers: readonly unknown[], path: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [number, port] of listAt(container, 'ports').entries()) {
      const hostPort = numberAt(port, 'hostPort') ?? 0;
      if (hostPort === 0) continue;
      const title = `${stringAt(port, 'protocol')}/${stringAt(port, 'hostIP')}/${hostPort}`;
      errors.unique(`${path}[${index}].ports[${number}].hostPort`, title, seen);
    }
  }
}

function validateHostPorts(spec: Fields, path: string, errors: FieldErrors): void {
  if (spec['hostNetwork'] !== true) return;
  for (const [index, container] of listAt(spec, 'containers').entries()) {
    for (const [number, port] of listAt(container, 'ports').entries()) {
      const hostPort = numberAt(port, 'hostPort') ?? 0;
      if (hostPort !== 0 && hostPort !== numberAt(port, 'containerPort'))
        errors.invalid(
          `${path}.containers[${index}].ports[${number}].hostPort`,
          hostPort,
          'must match `containerPort` when `hostNetwork` is true',
        );
    }
  }
}

function validateSecurityContext(context: Fields, path: string, errors: FieldErrors): void {
  for (const field of ['fsGroup', 'runAsUser', 'runAsGroup']) {
    const id = numberAt(context, field);
    if (id !== undefined) errors.invalidEach(`${path}.${field}`, id, inRange(id, 0, MAX_INT32));
  }
}

const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];

function validateSpreading(constraints: readonly unknown[], path: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, constraint] of constraints.entries()) {
    const place = `${path}[${index}]`;
    const maxSkew = numberAt(constraint, 'maxSkew') ?? 0;
    if (maxSkew <= 0) errors.invalid(`${place}.maxSkew`, maxSkew, 'must be greater than zero');
    const topologyKey = stringAt(constraint, 'topologyKey');
    if (topologyKey === '') errors.required(`${place}.topologyKey`, 'can not be empty');
    else errors.invalidEach(`${place}.topologyKey`, topologyKey, qualifiedName(topologyKey));
    const when = stringAt(constraint, 'whenUnsatisfiable');
    if (!UNSATISFIABLE.includes(when)) errors.notSupported(`${place}.whenUnsatisfiable`, when, UNSATISFIABLE);
    errors.unique(`${place}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${when}}`, seen);
    validateSelector(valueAt(constraint, 'labelSelector'), `${place}.labelSelector`, errors);
  }
}

function validateReferences(spec: Fields, path: string, errors: FieldErrors): void {
  for (const field of ['serviceAccountName', 'nodeName']) {
    const name = stringAt(spec, field);
    if (name !== '') errors.invalidEach(`${path}.${field}`, name, dnsSubdomain(name));
  }
  const deadline = numberAt(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined)
    errors.invalidEach(`${path}.activeDeadlineSeconds`, deadline, inRange(deadline, 1, MAX_INT32));
  for (const field of ['hostname', 'subdomain']) {
    const name = stringAt(spec, field);
    if (name !== '') errors.invalidEach(`${path}.${field}`, name, dnsLabel(name));
  }
  for (const field of ['priorityClassName', 'runtimeClassName']) {
    const name = stringAt(spec, field);
    if (name !== '') errors.invalidEach(`${path}.${field}`, name, dnsSubdomain(name));
  }
}

function validateTolerations(tolerations: readonly unknown[], path: string, errors: FieldErrors): void {
  for (const [index, toleration] of tolerations.entries()) {
    const place = `${path}[${index}]`;
    const [key, operator, effect, value] = ['key', 'operator', 'effect', 'value'].map((field) =>
      stringAt(toleration, field),
    );
    if (key !== undefined && key !== '') errors.invalidEach(`${place}.key`, key, qualifiedName(key));
    if (key === '' && operator !== 'Exists')
      errors.invalid(
        `${place}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      );
    if (numberAt(toleration, 'tolerationSeconds') !== undefined && effect !== 'NoExecute')
      errors.invalid(`${place}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    validateTolerated(operator ?? '', value ?? '', `${place}.operator`, errors);
    if (effect !== undefined && effect !== '' && !TAINT_EFFECTS.includes(effect))
      errors.notSupported(`${place}.effect`, effect, TAINT_EFFECTS);
  }
}

function validateTolerated(operator: string, value: string, path: string, errors: FieldErrors): void {
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = labelValue(value);
      if (problems.length > 0) errors.invalid(path, value, problems.join(';'));
      break;
    }
    case 'Exists':
      if (value !== '') errors.invalid(path, value, "value must be empty when `operator` is 'Exists'");
      break;
    default:
      errors.notSupported(path, operator, ['Equal', 'Exists']);
  }
}
