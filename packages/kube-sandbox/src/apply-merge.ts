import { isObject } from '@addon-operator/json';
import { childPath, type FieldSet } from './field-set.ts';
import type { Fields } from './json-access.ts';
import { appliedOrder, isMergedList, itemElement, itemsByElement } from './list-items.ts';
import type { FieldRule } from './structures.ts';
import type { TypeRules } from './type-rules.ts';

/** `live` with everything that `configuration` says; atomic parts are replaced, the others merged. */
export function mergeApplied(live: Fields, configuration: Fields, rules: TypeRules): Fields {
  const merged: Record<string, unknown> = { ...live };
  for (const [field, value] of Object.entries(configuration)) {
    merged[field] = mergeValue(live[field], value, rules.rule(field), rules.below(field));
  }
  return merged;
}

function mergeValue(live: unknown, value: unknown, rule: FieldRule, below: TypeRules): unknown {
  if (rule.atomic === true) return value;
  if (isObject(value)) return isObject(live) ? mergeApplied(live, value, below) : value;
  if (!Array.isArray(value) || !isMergedList(rule) || !Array.isArray(live)) return value;
  const applied = itemsByElement(value, rule) ?? new Map<string, unknown>();
  const liveItems = itemsByElement(live, rule) ?? new Map<string, unknown>();
  return appliedOrder([...liveItems.keys()], [...applied.keys()]).map((element) =>
    applied.has(element)
      ? mergeValue(liveItems.get(element), applied.get(element), {}, below)
      : liveItems.get(element),
  );
}

/** Which fields a manager had applied before, and which any manager owns now. */
export interface Ownership {
  readonly former: FieldSet;
  readonly owned: FieldSet;
}

/** `fields` without those that were applied before and have no owner now. */
export function pruneUnowned(fields: Fields, rules: TypeRules, ownership: Ownership): Fields {
  return pruneFields(fields, rules, '', {
    former: ownership.former.withNamedParents(),
    owned: ownership.owned.withNamedParents(),
  });
}

function isAbandoned(path: string, { former, owned }: Ownership): boolean {
  return former.has(path) && !owned.has(path);
}

function pruneFields(fields: Fields, rules: TypeRules, path: string, ownership: Ownership): Fields {
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    const fieldPath = childPath(path, `f:${field}`);
    if (isAbandoned(fieldPath, ownership)) continue;
    kept[field] = pruneValue(value, rules.rule(field), rules.below(field), fieldPath, ownership);
  }
  return kept;
}

function pruneValue(
  value: unknown,
  rule: FieldRule,
  below: TypeRules,
  path: string,
  ownership: Ownership,
): unknown {
  if (rule.atomic === true) return value;
  if (isObject(value)) return pruneFields(value, below, path, ownership);
  if (!Array.isArray(value) || !isMergedList(rule)) return value;
  return value
    .filter((item) => !isAbandoned(childPath(path, itemElement(item, rule)), ownership))
    .map((item) => pruneValue(item, {}, below, childPath(path, itemElement(item, rule)), ownership));
}
