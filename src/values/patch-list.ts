import type { PatchOperation } from './values-patch.ts';

/** An operation as it is stored, with the name of the hook that wrote it last. */
export type StoredOperation = Exclude<PatchOperation, { readonly op: 'test' }> & { readonly hook?: string };

/** Stored operations: one for a path, sorted by path, so parents stand before what is in them. */
export type PatchList = readonly StoredOperation[];

/**
 * Folds new operations into a stored list: each takes the place of a stored one at the same path and of all below it,
 * so the list grows with the number of paths and not with the number of patches. Tests are not stored.
 */
export function foldPatch(
  stored: PatchList,
  operations: readonly (PatchOperation & Pick<StoredOperation, 'hook'>)[],
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
