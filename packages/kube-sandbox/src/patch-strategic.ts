import { canonicalJson, isObject } from '@addon-operator/json';
import { equalJson, type Fields, listAt, scalarString } from './json-access.ts';
import { sortMerged } from './list-items.ts';
import type { MergeType } from './merge-type.ts';
import { badRequest } from './status-error.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_PREFIX = '$deleteFromPrimitiveList/';
const ORDER_PREFIX = '$setElementOrder/';

/**
 * Applies a strategic merge patch and returns the changed copy.
 *
 * @throws StatusError 400 for a patch with unknown directives or list elements without merge key
 */
export function applyStrategicPatch(target: Fields, patch: Fields, type: MergeType): Fields {
  const directive = patch[DIRECTIVE];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge')
    throw badRequest(`Unknown patch type '${scalarString(directive)}' in strategic merge patch`);
  let merged: Record<string, unknown> = retainKeys(target, patch);
  for (const [key, value] of Object.entries(patch)) {
    if (key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(ORDER_PREFIX)) continue;
    if (key.startsWith(DELETE_PREFIX)) {
      merged = removeScalars(merged, key.slice(DELETE_PREFIX.length), value);
    } else if (value === null) delete merged[key];
    else merged[key] = mergeField(merged[key], value, type.field(key));
  }
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ORDER_PREFIX) || !Array.isArray(order)) continue;
    const field = key.slice(ORDER_PREFIX.length);
    const list = merged[field];
    const mergeKey = type.field(field).mergeKey ?? '';
    if (Array.isArray(list)) merged[field] = inOrder(list, order, listAt(target, field), mergeKey);
  }
  return merged;
}

function withoutDirectives(patch: Fields): Fields {
  const { [DIRECTIVE]: _directive, ...rest } = patch;
  return rest;
}

function retainKeys(target: Fields, patch: Fields): Record<string, unknown> {
  const kept = patch[RETAIN_KEYS];
  if (!Array.isArray(kept)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([key]) => kept.includes(key)));
}

function removeScalars(
  fields: Record<string, unknown>,
  field: string,
  removed: unknown,
): Record<string, unknown> {
  const list = fields[field];
  if (!Array.isArray(list) || !Array.isArray(removed)) return fields;
  return { ...fields, [field]: list.filter((item) => !removed.includes(item)) };
}

function mergeField(target: unknown, patch: unknown, type: MergeType): unknown {
  if (isObject(patch)) {
    const base = isObject(target) && !type.isReplaced ? target : {};
    return applyStrategicPatch(base, patch, type);
  }
  const { mergeKey } = type;
  if (!Array.isArray(patch) || mergeKey === undefined) return patch;
  const list = Array.isArray(target) ? target : [];
  if (mergeKey !== '') return mergeObjects(list, patch, mergeKey, type.item);
  const added = patch.filter((item) => !list.includes(item));
  return inOrder([...list, ...added], patch, list, '');
}

function mergeObjects(
  target: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
  type: MergeType,
): readonly unknown[] {
  const isReplace = patch.some((item) => isObject(item) && item[DIRECTIVE] === 'replace');
  const items = patch.filter((item) => !(isObject(item) && item[DIRECTIVE] === 'replace'));
  if (isReplace) return items;
  let merged = [...target];
  for (const item of items) {
    if (!isObject(item) || item[mergeKey] === undefined)
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
    const isSame = (other: unknown): boolean => isObject(other) && equalJson(other[mergeKey], item[mergeKey]);
    const index = merged.findIndex(isSame);
    const found = merged[index];
    if (item[DIRECTIVE] === 'delete') merged = merged.filter((other) => !isSame(other));
    else if (isObject(found)) merged[index] = applyStrategicPatch(found, item, type);
    else merged.push(applyStrategicPatch({}, item, type));
  }
  return inOrder(merged, items, target, mergeKey);
}

/** Sorts a merged list: the elements of `order` in its order, the others where they were among the old ones. */
function inOrder(
  list: readonly unknown[],
  order: readonly unknown[],
  oldList: readonly unknown[],
  mergeKey: string,
): readonly unknown[] {
  const elementOf = (item: unknown): string =>
    canonicalJson(mergeKey !== '' && isObject(item) ? item[mergeKey] : item);
  return sortMerged(list, order.map(elementOf), oldList.map(elementOf), elementOf);
}
