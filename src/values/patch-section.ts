import { messageOf, OperatorError } from '../lib/errors.ts';
import type { JsonObject } from '../lib/json.ts';
import { applyPatch } from './apply-patch.ts';
import { isJsonMap } from './merge.ts';
import { GLOBAL_SECTION, sectionOf, type ValuesOwner } from './module-key.ts';
import type { PatchOperation } from './values-patch.ts';

/**
 * One section with a hook's operations applied, under the rules for what a hook delivers.
 *
 * @throws OperatorError VALUES_PATCH_INVALID for the first operation that does not apply, or when no map is left
 */
export function patchSection(
  owner: ValuesOwner,
  section: JsonObject,
  operations: readonly PatchOperation[],
  what: 'values' | 'config values',
): JsonObject {
  const key = sectionOf(owner);
  try {
    return sectionAfter(applyPatch({ [key]: section }, operations, 'strict'), key);
  } catch (cause) {
    const whose = owner === GLOBAL_SECTION ? 'global values' : 'module values';
    throw new OperatorError(
      'VALUES_PATCH_INVALID',
      `cannot apply ${what} patch for ${whose}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/**
 * The section of a patched document.
 *
 * @throws OperatorError VALUES_PATCH_INVALID when it is no map any more
 */
export function sectionAfter(document: JsonObject, key: string): JsonObject {
  const section = document[key];
  if (isJsonMap(section)) return section;
  throw new OperatorError('VALUES_PATCH_INVALID', `/${key} must stay a map after all operations`);
}
