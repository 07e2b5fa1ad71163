import { type Fields, fieldsAt, listAt, numberAt, scalarText, stringAt, valueAt } from '../json-access.ts';
import { parseQuantity } from '../quantity.ts';
import type { FieldErrors, GoStruct } from './field-errors.ts';
import { pathSegment } from './name-rules.ts';
import { validateAtMostAll, validateIntOrPercent } from './validate-apps.ts';
import { validateSelector } from './validate-meta.ts';

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

/** Checks the spec of a PodDisruptionBudget. */
export function validateDisruptionBudget(spec: Fields, errors: FieldErrors): void {
  if (spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined)
    errors.invalid('spec', goBudget(spec), 'minAvailable and maxUnavailable cannot be both set');
  for (const field of ['minAvailable', 'maxUnavailable']) {
    if (spec[field] === undefined) continue;
    validateIntOrPercent(spec[field], `spec.${field}`, errors);
    validateAtMostAll(spec[field], `spec.${field}`, errors);
  }
  validateSelector(spec['selector'], 'spec.selector', errors);
  const policy = spec['unhealthyPodEvictionPolicy'];
  if (policy !== undefined && !EVICTION_POLICIES.includes(scalarText(policy)))
    errors.notSupported('spec.unhealthyPodEvictionPolicy', policy, EVICTION_POLICIES);
}

/** A budget as the API server shows it: by the names of its internal type. */
function goBudget(spec: Fields): GoStruct {
  return new Map([
    ['MinAvailable', spec['minAvailable']],
    ['Selector', spec['selector']],
    ['MaxUnavailable', spec['maxUnavailable']],
    ['UnhealthyPodEvictionPolicy', spec['unhealthyPodEvictionPolicy']],
  ]);
}

/** Sources of metrics, by the type that selects them. */
const SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};
const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];

/** Checks the spec of a HorizontalPodAutoscaler. */
export function validateAutoscaler(spec: Fields, errors: FieldErrors): void {
  const minReplicas = numberAt(spec, 'minReplicas');
  const maxReplicas = numberAt(spec, 'maxReplicas') ?? 0;
  if (minReplicas !== undefined && minReplicas < 1)
    errors.invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1');
  if (maxReplicas < 1) errors.invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0');
  if (minReplicas !== undefined && maxReplicas < minReplicas)
    errors.invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`');
  for (const field of ['kind', 'name']) {
    const value = stringAt(spec, 'scaleTargetRef', field);
    if (value === '') errors.required(`spec.scaleTargetRef.${field}`);
    else errors.invalidEach(`spec.scaleTargetRef.${field}`, value, pathSegment(value));
  }
  if (!stringAt(spec, 'scaleTargetRef', 'apiVersion').includes('/'))
    errors.invalid(
      'spec.scaleTargetRef.apiVersion',
      stringAt(spec, 'scaleTargetRef', 'apiVersion'),
      'apiVersion must specify API group',
    );
  const metrics = listAt(spec, 'metrics').map((metric) => fieldsAt(metric));
  for (const [index, metric] of metrics.entries()) validateMetric(metric, `spec.metrics[${index}]`, errors);
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External'))
    errors.forbidden(
      'spec.metrics',
      'must specify at least one Object or External metric to support scaling to zero replicas',
    );
}

function validateMetric(metric: Fields, path: string, errors: FieldErrors): void {
  const type = stringAt(metric, 'type');
  const types = Object.keys(SOURCES);
  if (type === '') errors.required(`${path}.type`, 'must specify a metric source type');
  const expected = SOURCES[type];
  if (expected === undefined) errors.notSupported(`${path}.type`, type, types);
  const given = Object.values(SOURCES).filter((field) => metric[field] !== undefined);
  if (given[0] === 'resource')
    validateResourceSource(fieldsAt(metric, 'resource'), `${path}.resource`, errors);
  if (expected === undefined) errors.notSupported(`${path}.type`, type, types);
  else if (metric[expected] === undefined)
    errors.required(`${path}.${expected}`, 'must populate information for the given metric source');
  if (given.length === 1) return;
  for (const field of given.filter((each) => each !== expected))
    errors.forbidden(`${path}.${field}`, 'must populate the given metric source only');
}

function validateResourceSource(source: Fields, path: string, errors: FieldErrors): void {
  if (stringAt(source, 'name') === '') errors.required(`${path}.name`, 'must specify a resource name');
  const target = fieldsAt(source, 'target');
  const type = stringAt(target, 'type');
  if (type === '') errors.required(`${path}.target.type`, 'must specify a metric target type');
  if (!TARGET_TYPES.includes(type))
    errors.invalid(`${path}.target.type`, type, 'must be either Utilization, Value, or AverageValue');
  for (const field of ['value', 'averageValue']) {
    const parsed = parseQuantity(scalarText(target[field]));
    if (target[field] !== undefined && parsed.problem === undefined && parsed.nano <= 0n)
      errors.invalid(`${path}.target.${field}`, target[field], 'must be positive');
  }
  const { averageUtilization, averageValue } = target;
  if (typeof averageUtilization === 'number' && averageUtilization < 1)
    errors.invalid(`${path}.target.averageUtilization`, averageUtilization, 'must be greater than 0');
  if (averageUtilization === undefined && averageValue === undefined)
    errors.required(
      `${path}.target.averageUtilization`,
      'must set either a target raw value or a target utilization',
    );
  if (averageUtilization !== undefined && valueAt(target, 'averageValue') !== undefined)
    errors.forbidden(
      `${path}.target.averageValue`,
      'may not set both a target raw value and a target utilization',
    );
}
