/** Converts the selectors of a binding into query parameters of list and watch requests. */

import type {
  FieldRequirement,
  LabelRequirement,
  LabelSelector,
} from '../../hook-config/kubernetes-binding.ts';

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
