import { isBelow } from './json-pointer.ts';
import type { PatchOperation } from './values-patch.ts';

/** Stored operations: one for a path, sorted by path, so parents stand before what is in them. */
export type PatchList = readonly Exclude<PatchOperation, { readonly op: 'test' }>[];

/**
 * Folds new operations into a stored list: each takes the place of a stored one at the same path and of all below it,
 * so the list grows with the number of paths and not with the number of patches. Tests are not stored.
 */
export function foldPatch(stored: PatchList, operations: readonly PatchOperation[]): PatchList {
  const byPath = new Map(stored.map((operation) => [operation.path, operation]));
  for (const operation of operations) {
    if (operation.op === 'test') continue;
    for (const path of byPath.keys()) {
      if (isBelow(path, operation.path)) byPath.delete(path);
    }
    byPath.set(operation.path, operation);
  }
  return [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
