import type { Field } from './field.ts';
import { dnsLabel, dnsSubdomain, inRange, labelValue, qualifiedName } from './name-rules.ts';
import {
  type ContainerScope,
  validateContainer,
  validateHandler,
  validateIds,
  validateProbe,
} from './validate-container.ts';
import { validateAnnotations, validateLabels, validateSelector } from './validate-meta.ts';
import { validateVolumes } from './validate-volumes.ts';

const MAX_INT32 = 2_147_483_647;
const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Checks a pod template, with its defaults filled in. */
export function validatePodTemplate(template: Field): void {
  validateLabels(template.at('metadata', 'labels').named(`${template.path}.labels`));
  validateAnnotations(template.at('metadata', 'annotations').named(`${template.path}.annotations`));
  const spec = template.at('spec');
  validatePodSpec(spec);
  if (spec.at('ephemeralContainers').list.length > 0)
    spec.at('ephemeralContainers').forbidden('ephemeral containers not allowed in pod template');
}

/** Checks a pod spec, with its defaults filled in. */
export function validatePodSpec(spec: Field): void {
  const volumes = validateVolumes(spec.at('volumes'));
  const scope = { volumes, gracePeriodSeconds: spec.at('terminationGracePeriodSeconds').number };
  validateContainers(spec.at('containers'), scope);
  validateInitContainers(spec, scope);
  validateHostPorts(spec);
  spec.at('restartPolicy').oneOf(RESTART_POLICIES);
  spec.at('dnsPolicy').oneOf(DNS_POLICIES);
  validateLabels(spec.at('nodeSelector'));
  validateIds(spec.at('securityContext'), ['fsGroup', 'runAsUser', 'runAsGroup']);
  for (const type of spec.at('readinessGates').items.map((gate) => gate.at('conditionType')))
    type.check(qualifiedName(type.string), type.string);
  validateSpreading(spec.at('topologySpreadConstraints'));
  validateReferences(spec);
  for (const toleration of spec.at('tolerations').items) validateToleration(toleration);
}

function validateContainers(containers: Field, scope: ContainerScope): void {
  if (containers.list.length === 0) containers.required();
  const names = new Set<string>();
  for (const container of containers.items) {
    validateContainer(container, scope);
    container.at('name').unique(names);
    validateRunning(container, scope);
  }
  validateUniqueHostPorts(containers);
}

/** Checks fields that only containers have that run as long as the pod. */
function validateRunning(container: Field, scope: ContainerScope): void {
  for (const handler of ['postStart', 'preStop'].map((name) => container.at('lifecycle', name)))
    if (handler.isSet) validateHandler(handler, scope);
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe'])
    validateProbe(container, probe, scope);
}

const PROBES = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'];

function validateInitContainers(spec: Field, scope: ContainerScope): void {
  const names = new Set(spec.at('containers').items.map((container) => container.at('name').string));
  for (const container of spec.at('initContainers').items) {
    validateContainer(container, scope);
    const policy = container.at('restartPolicy');
    policy.oneOfIfSet(['Always']);
    const name = container.at('name');
    if (names.has(name.string)) name.duplicate(name.string);
    else if (name.string !== '') names.add(name.string);
    if (policy.value === 'Always') validateRunning(container, scope);
    else {
      for (const field of PROBES.map((probe) => container.at(probe)))
        if (field.isSet) field.forbidden('may not be set for init containers without restartPolicy=Always');
    }
  }
}

function portsOf(containers: Field): readonly Field[] {
  return containers.items.flatMap((container) => container.at('ports').items);
}

function validateUniqueHostPorts(containers: Field): void {
  const seen = new Set<string>();
  for (const port of portsOf(containers)) {
    const hostPort = port.at('hostPort');
    if ((hostPort.number ?? 0) !== 0)
      hostPort.unique(seen, `${port.at('protocol').string}/${port.at('hostIP').string}/${hostPort.number}`);
  }
}

function validateHostPorts(spec: Field): void {
  if (spec.at('hostNetwork').value !== true) return;
  for (const port of portsOf(spec.at('containers'))) {
    const hostPort = port.at('hostPort');
    if ((hostPort.number ?? 0) !== 0 && hostPort.number !== port.at('containerPort').number)
      hostPort.invalid('must match `containerPort` when `hostNetwork` is true');
  }
}

const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];

function validateSpreading(constraints: Field): void {
  const seen = new Set<string>();
  for (const constraint of constraints.items) {
    const maxSkew = constraint.at('maxSkew').number ?? 0;
    if (maxSkew <= 0) constraint.at('maxSkew').invalid('must be greater than zero', maxSkew);
    const topologyKey = constraint.at('topologyKey');
    topologyKey.require(qualifiedName, 'can not be empty');
    const when = constraint.at('whenUnsatisfiable');
    if (!UNSATISFIABLE.includes(when.string)) when.notSupported(UNSATISFIABLE, when.string);
    constraint.at('{topologyKey, whenUnsatisfiable}').unique(seen, `{${topologyKey.string}, ${when.string}}`);
    validateSelector(constraint.at('labelSelector'));
  }
}

function validateReferences(spec: Field): void {
  spec.at('serviceAccountName').checkIfSet(dnsSubdomain);
  spec.at('nodeName').checkIfSet(dnsSubdomain);
  const deadline = spec.at('activeDeadlineSeconds');
  if (deadline.number !== undefined) deadline.check(inRange(deadline.number, 1, MAX_INT32));
  spec.at('hostname').checkIfSet(dnsLabel);
  spec.at('subdomain').checkIfSet(dnsLabel);
  spec.at('priorityClassName').checkIfSet(dnsSubdomain);
  spec.at('runtimeClassName').checkIfSet(dnsSubdomain);
}

function validateToleration(toleration: Field): void {
  const key = toleration.at('key');
  const operator = toleration.at('operator');
  const effect = toleration.at('effect');
  key.checkIfSet(qualifiedName);
  if (key.string === '' && operator.string !== 'Exists')
    operator.invalid(
      'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      operator.string,
    );
  if (toleration.at('tolerationSeconds').number !== undefined && effect.string !== 'NoExecute')
    effect.invalid("effect must be 'NoExecute' when `tolerationSeconds` is set", effect.string);
  validateTolerated(operator, toleration.at('value').string);
  if (effect.string !== '' && !TAINT_EFFECTS.includes(effect.string)) effect.notSupported(TAINT_EFFECTS);
}

function validateTolerated(operator: Field, value: string): void {
  switch (operator.string) {
    case '':
    case 'Equal': {
      const problems = labelValue(value);
      if (problems.length > 0) operator.invalid(problems.join(';'), value);
      break;
    }
    case 'Exists':
      if (value !== '') operator.invalid("value must be empty when `operator` is 'Exists'", value);
      break;
    default:
      operator.notSupported(['Equal', 'Exists']);
  }
}
