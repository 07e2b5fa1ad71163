import { isObject } from '@addon-operator/json';
import { childPath, type FieldSet } from './field-set.ts';
import type { Fields } from './json-access.ts';
import { appliedOrder, itemElement, itemsByElement } from './list-items.ts';
import type { MergeType } from './merge-type.ts';

/** `live` with everything that `configuration` says; atomic parts are replaced, the others merged. */
export function mergeApplied(live: Fields, configuration: Fields, type: MergeType): Fields {
  const merged: Record<string, unknown> = { ...live };
  for (const [field, value] of Object.entries(configuration)) {
    merged[field] = mergeValue(live[field], value, type.field(field));
  }
  return merged;
}

function mergeValue(live: unknown, value: unknown, type: MergeType): unknown {
  if (type.isAtomic) return value;
  if (isObject(value)) return isObject(live) ? mergeApplied(live, value, type) : value;
  if (!Array.isArray(value) || !type.isMergedList || !Array.isArray(live)) return value;
  const applied = itemsByElement(value, type);
  const liveItems = itemsByElement(live, type);
  return appliedOrder([...liveItems.keys()], [...applied.keys()]).map((element) =>
    applied.has(element)
      ? mergeValue(liveItems.get(element), applied.get(element), type.item)
      : liveItems.get(element),
  );
}

/** Which fields a manager had applied before, and which any manager owns now. */
export interface Ownership {
  readonly former: FieldSet;
  readonly owned: FieldSet;
}

/** `fields` without those that were applied before and have no owner now. */
export function pruneUnowned(fields: Fields, type: MergeType, ownership: Ownership): Fields {
  return pruneFields(fields, type, '', {
    former: ownership.former.withNamedParents(),
    owned: ownership.owned.withNamedParents(),
  });
}

function isAbandoned(path: string, { former, owned }: Ownership): boolean {
  return former.has(path) && !owned.has(path);
}

function pruneFields(fields: Fields, type: MergeType, path: string, ownership: Ownership): Fields {
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    const fieldPath = childPath(path, `f:${field}`);
    if (!isAbandoned(fieldPath, ownership))
      kept[field] = pruneValue(value, type.field(field), fieldPath, ownership);
  }
  return kept;
}

function pruneValue(value: unknown, type: MergeType, path: string, ownership: Ownership): unknown {
  if (type.isAtomic) return value;
  if (isObject(value)) return pruneFields(value, type, path, ownership);
  if (!Array.isArray(value) || !type.isMergedList) return value;
  return value.flatMap((item) => {
    const itemPath = childPath(path, itemElement(item, type));
    return isAbandoned(itemPath, ownership) ? [] : [pruneValue(item, type.item, itemPath, ownership)];
  });
}
