import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { applyPatch } from './apply-patch.ts';
import { GLOBAL_SECTION, sectionOf, type ValuesOwner } from './module-key.ts';
import type { ValuesOperation } from './values-patch.ts';

/**
 * One section with a hook's operations applied, under the rules for what a hook delivers.
 *
 * @throws OperatorError VALUES_PATCH_INVALID for the first operation that does not apply, or when no map is left
 */
export function patchSection(
  owner: ValuesOwner,
  section: JsonObject,
  operations: readonly ValuesOperation[],
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

/** An operation as it is stored, with the name of the hook that wrote it last. */
export type StoredOperation = Exclude<ValuesOperation, { readonly op: 'test' }> & { readonly hook?: string };

/** Stored operations: one for each path, sorted by path, so parents come before their children. */
export type PatchList = readonly StoredOperation[];

/**
 * Folds new operations into a stored list: each takes the place of a stored one at the same path and of all below it,
 * so the list grows with the number of paths and not with the number of patches. Tests are not stored.
 */
export function foldPatch(
  stored: PatchList,
  operations: readonly (ValuesOperation & Pick<StoredOperation, 'hook'>)[],
): PatchList {
  const kept = new Map<string, PatchList[number]>();
  // From the newest on, so whether something newer covers an operation is known by looking up its path and those above.
  for (const operation of [...stored, ...operations].toReversed()) {
    if (operation.op !== 'test' && !isCovered(operation.path, kept)) kept.set(operation.path, operation);
  }
  return [...kept.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function isCovered(path: string, kept: ReadonlyMap<string, unknown>): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (kept.has(path.slice(0, end))) return true;
  return false;
}
