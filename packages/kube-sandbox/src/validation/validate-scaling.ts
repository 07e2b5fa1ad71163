import { scalarString } from '../json-access.ts';
import { parseQuantity } from '../quantity.ts';
import type { Field, GoStruct } from './field.ts';
import { pathSegment } from './name-rules.ts';
import { validateAtMostAll, validateIntOrPercent } from './validate-apps.ts';
import { validateSelector } from './validate-meta.ts';

/** Checks the spec of a PodDisruptionBudget. */
export function validateDisruptionBudget(spec: Field): void {
  const counts = ['minAvailable', 'maxUnavailable'].map((name) => spec.at(name));
  if (counts.every((count) => count.isSet))
    spec.invalid('minAvailable and maxUnavailable cannot be both set', goBudget(spec));
  for (const count of counts) {
    validateIntOrPercent(count);
    validateAtMostAll(count);
  }
  validateSelector(spec.at('selector'));
  spec.at('unhealthyPodEvictionPolicy').oneOfIfSet(['AlwaysAllow', 'IfHealthyBudget']);
}

/** A budget as the API server shows it: by the names of its internal type. */
function goBudget({ fields }: Field): GoStruct {
  return new Map([
    ['MinAvailable', fields['minAvailable']],
    ['Selector', fields['selector']],
    ['MaxUnavailable', fields['maxUnavailable']],
    ['UnhealthyPodEvictionPolicy', fields['unhealthyPodEvictionPolicy']],
  ]);
}

/** Checks the spec of a HorizontalPodAutoscaler. */
export function validateAutoscaler(spec: Field): void {
  const minReplicas = spec.at('minReplicas');
  const maxReplicas = spec.at('maxReplicas');
  const min = minReplicas.number;
  const max = maxReplicas.number ?? 0;
  if (min !== undefined && min < 1) minReplicas.invalid('must be greater than or equal to 1');
  if (max < 1) maxReplicas.invalid('must be greater than 0', max);
  if (min !== undefined && max < min)
    maxReplicas.invalid('must be greater than or equal to `minReplicas`', max);
  const target = spec.at('scaleTargetRef');
  target.at('kind').require(pathSegment);
  target.at('name').require(pathSegment);
  const apiVersion = target.at('apiVersion');
  if (!apiVersion.string.includes('/'))
    apiVersion.invalid('apiVersion must specify API group', apiVersion.string);
  const metrics = spec.at('metrics');
  for (const metric of metrics.items) validateMetric(metric);
  const types = metrics.items.map((metric) => metric.at('type').string);
  if (min === 0 && !types.includes('Object') && !types.includes('External'))
    metrics.forbidden(
      'must specify at least one Object or External metric to support scaling to zero replicas',
    );
}

/** Sources of metrics, by the type that selects them. */
const SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};

function validateMetric(metric: Field): void {
  const type = metric.at('type');
  const reportUnknown = (): void => type.notSupported(Object.keys(SOURCES), type.string);
  if (type.string === '') type.required('must specify a metric source type');
  const expected = SOURCES[type.string];
  if (expected === undefined) reportUnknown();
  const given = Object.values(SOURCES).filter((field) => metric.at(field).isSet);
  if (given[0] === 'resource') validateResourceSource(metric.at('resource'));
  if (expected === undefined) reportUnknown();
  else if (!metric.at(expected).isSet)
    metric.at(expected).required('must populate information for the given metric source');
  if (given.length === 1) return;
  for (const field of given.filter((each) => each !== expected))
    metric.at(field).forbidden('must populate the given metric source only');
}

const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];

function validateResourceSource(source: Field): void {
  source.at('name').require(undefined, 'must specify a resource name');
  const target = source.at('target');
  const type = target.at('type');
  type.require(undefined, 'must specify a metric target type');
  if (!TARGET_TYPES.includes(type.string))
    type.invalid('must be either Utilization, Value, or AverageValue', type.string);
  for (const quantity of [target.at('value'), target.at('averageValue')]) {
    const parsed = parseQuantity(scalarString(quantity.value));
    if (quantity.isSet && parsed.problem === undefined && parsed.nano <= 0n)
      quantity.invalid('must be positive');
  }
  const utilization = target.at('averageUtilization');
  const hasValue = target.at('averageValue').isSet;
  if (utilization.number !== undefined && utilization.number < 1)
    utilization.invalid('must be greater than 0');
  if (!utilization.isSet && !hasValue)
    utilization.required('must set either a target raw value or a target utilization');
  if (utilization.isSet && hasValue)
    utilization.forbidden('may not set both a target raw value and a target utilization');
}
