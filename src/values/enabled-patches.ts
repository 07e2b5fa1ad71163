/**
 * Splits the patch of a global hook: operations below `global` change values, `<module>Enabled` keys switch modules on
 * and off. `hooks/parse-outputs.ts` calls it, and `model/dynamic-flags.ts` keeps the resulting flags.
 */

import { OperatorError } from '@addon-operator/base/errors';
import type { Json } from '@addon-operator/json';
import { parsePointer } from '@addon-operator/json/pointer';
import { asModuleKey, GLOBAL_SECTION, type ModuleKey } from './module-key.ts';
import { FLAG_SUFFIX, type ValuesOperation } from './values-patch.ts';

/** A flag that a global hook sets; undefined takes back what hooks set before. */
export interface FlagPatch {
  readonly key: ModuleKey;
  readonly isEnabled: boolean | undefined;
}

interface GlobalPatch {
  /** Operations on the global values. */
  readonly values: readonly ValuesOperation[];
  readonly flags: readonly FlagPatch[];
  /** Operations on flags that mean nothing (a test, or the flag of something that cannot be a module). */
  readonly ignored: readonly ValuesOperation[];
}

/**
 * Parts what a global hook wrote into operations on values and on flags of modules. Both patch files may hold both.
 *
 * @throws OperatorError VALUES_PATCH_INVALID when a flag would be anything but a boolean, or the text of one
 */
export function splitGlobalPatch(operations: readonly ValuesOperation[]): GlobalPatch {
  const values: ValuesOperation[] = [];
  const flags: FlagPatch[] = [];
  const ignored: ValuesOperation[] = [];
  for (const operation of operations) {
    const [root = '', ...below] = parsePointer(operation.path) ?? [];
    if (root === GLOBAL_SECTION) {
      values.push(operation);
      continue;
    }
    if (below.length > 0) throw badFlag(operation, 'a flag is not a map');
    const flag = parseFlag(root, operation);
    if (flag === undefined) ignored.push(operation);
    else flags.push(flag);
  }
  return { values, flags, ignored };
}

/** The flags after a hook's patches; the same map when nothing changes. */
export function applyFlagPatches(
  flags: ReadonlyMap<ModuleKey, boolean>,
  patches: readonly FlagPatch[],
): ReadonlyMap<ModuleKey, boolean> {
  const patched = new Map(flags);
  for (const { key, isEnabled } of patches) {
    if (isEnabled === undefined) patched.delete(key);
    else patched.set(key, isEnabled);
  }
  const isSame = patched.size === flags.size && [...patched].every(([key, flag]) => flags.get(key) === flag);
  return isSame ? flags : patched;
}

function parseFlag(root: string, operation: ValuesOperation): FlagPatch | undefined {
  const key = asModuleKey(root.slice(0, -FLAG_SUFFIX.length));
  if (key === undefined) return undefined;
  switch (operation.op) {
    case 'add':
      return { key, isEnabled: booleanOf(operation.value, operation) };
    case 'remove':
      return { key, isEnabled: undefined };
    case 'test':
      return undefined;
  }
}

function booleanOf(value: Json, operation: ValuesOperation): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw badFlag(operation, 'unsupported module enabled value, use true or false');
}

function badFlag({ op, path }: ValuesOperation, why: string): OperatorError {
  return new OperatorError(
    'VALUES_PATCH_INVALID',
    `apply enabled patches from global values patch: apply enabled patch operation '${op}' for ${path}: ${why}`,
  );
}
