import type { LabelSelector } from './kubernetes-binding.ts';

const MAX_PREFIX_LENGTH = 253;
const MAX_NAME_LENGTH = 63;
const NAME = /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/**
 * Why a selector cannot be sent to the API server: keys and values must have the form of labels, and each operator takes
 * values or none.
 */
export function* labelSelectorProblems(selector: LabelSelector | undefined): Iterable<string> {
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {}))
    yield* labelProblems(key, [value], 'matchLabels');
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    const hasValues = values.length > 0;
    if ((operator === 'In' || operator === 'NotIn') !== hasValues)
      yield `labelSelector is invalid: key '${key}': ${operator} ${hasValues ? 'takes no values' : 'needs values'}`;
    yield* labelProblems(key, values, 'matchExpressions');
  }
}

function* labelProblems(key: string, values: readonly string[], where: string): Iterable<string> {
  if (!isLabelKey(key))
    yield `labelSelector is invalid: ${where}: '${key}' is not a label key: expected at most ${MAX_NAME_LENGTH} letters, digits, '-', '_' and '.', with a letter or digit at both ends, and before them, if needed, a domain and '/'`;
  for (const value of values)
    if (value !== '' && !isName(value))
      yield `labelSelector is invalid: ${where}: key '${key}': '${value}' is not a label value: expected at most ${MAX_NAME_LENGTH} letters, digits, '-', '_' and '.', with a letter or digit at both ends`;
}

function isLabelKey(key: string): boolean {
  const [name = '', prefix, ...more] = key.split('/').reverse();
  if (more.length > 0 || !isName(name)) return false;
  return prefix === undefined || (prefix.length <= MAX_PREFIX_LENGTH && PREFIX.test(prefix));
}

function isName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && NAME.test(text);
}
