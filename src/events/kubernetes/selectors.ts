import type { FieldRequirement, LabelRequirement, LabelSelector } from '../../hooks/kubernetes-binding.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import { isObject } from '../../lib/json.ts';

/** The selector as the `labelSelector` query parameter has it; undefined when it matches everything. */
export function labelSelectorQuery(selector: LabelSelector | undefined): string | undefined {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const expressions = (selector?.matchExpressions ?? []).map(requirementQuery);
  const parts = [...labels, ...expressions];
  return parts.length === 0 ? undefined : parts.join(',');
}

function requirementQuery({ key, operator, values = [] }: LabelRequirement): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
  }
}

/**
 * The conditions as the `fieldSelector` query parameter has them; undefined when there are none.
 *
 * @param name adds `metadata.name=name`
 */
export function fieldSelectorQuery(
  requirements: readonly FieldRequirement[] | undefined,
  name?: string,
): string | undefined {
  const parts = (requirements ?? []).map(
    ({ field, operator, value }) => `${field}${isNegative(operator) ? '!=' : '='}${escapeFieldValue(value)}`,
  );
  if (name !== undefined) parts.push(`metadata.name=${escapeFieldValue(name)}`);
  return parts.length === 0 ? undefined : parts.join(',');
}

function isNegative(operator: FieldRequirement['operator']): boolean {
  return operator === '!=' || operator === 'NotEquals';
}

function escapeFieldValue(value: string): string {
  return value.replaceAll(/[\\,=]/g, String.raw`\$&`);
}

/** Whether labels satisfy the selector, by the rules of the API server: `NotIn` accepts a missing label. */
export function matchesLabels(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  const all = new Map(Object.entries(labels));
  const equal = Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => all.get(key) === value);
  return equal && (selector?.matchExpressions ?? []).every((one) => matchesRequirement(one, all));
}

function matchesRequirement(
  { key, operator, values = [] }: LabelRequirement,
  labels: ReadonlyMap<string, string>,
): boolean {
  const value = labels.get(key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** Whether an object satisfies all conditions; a missing field counts as an empty text. */
export function matchesFields(
  requirements: readonly FieldRequirement[] | undefined,
  object: KubeObject,
): boolean {
  return (requirements ?? []).every(({ field, operator, value }) => {
    const found = field
      .split('.')
      .reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), object);
    return (fieldText(found) === value) !== isNegative(operator);
  });
}

function fieldText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
