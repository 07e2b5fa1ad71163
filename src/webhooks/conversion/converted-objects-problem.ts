import { fieldsOf, isObject, stringOf } from '@addon-operator/json';

/** Fields that a conversion must not change: the API server would refuse the objects. */
const FIXED = ['name', 'namespace', 'uid'] as const;

/** Why the objects a hook returned are no conversion of those it was given; undefined if they may be one. */
export function convertedObjectsProblem(
  before: readonly unknown[],
  after: readonly unknown[],
): string | undefined {
  if (after.length !== before.length) return `returned ${after.length} objects instead of ${before.length}`;
  for (const [index, object] of after.entries()) {
    const original = before[index];
    if (!isObject(object) || !isObject(original)) return `returned no object at position ${index}`;
    const name = stringOf(metadataOf(original)['name']);
    if (object['kind'] !== original['kind'])
      return `changed the kind of '${name}' from ${stringOf(original['kind'])} to ${stringOf(object['kind'])}`;
    for (const field of FIXED) {
      const [was, is] = [stringOf(metadataOf(original)[field]), stringOf(metadataOf(object)[field])];
      if (was !== is)
        return `changed metadata.${field} of '${name}' from '${was}' to '${is}', or the order of the objects`;
    }
  }
  return undefined;
}

function metadataOf(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return fieldsOf(object['metadata']);
}
