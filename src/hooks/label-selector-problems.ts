import type { LabelSelector } from './kubernetes-binding.ts';

/** Why a selector cannot be sent to the API server. */
export function* labelSelectorProblems(selector: LabelSelector | undefined): Iterable<string> {
  for (const { key, operator, values } of selector?.matchExpressions ?? []) {
    const hasValues = (values ?? []).length > 0;
    if ((operator === 'In' || operator === 'NotIn') !== hasValues)
      yield `labelSelector is invalid: key '${key}': ${operator} ${hasValues ? 'takes no values' : 'needs values'}`;
  }
}
