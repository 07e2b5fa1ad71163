import { canonicalJson, isObject } from '@addon-operator/json';
import type { MergeType } from './merge-type.ts';

/** Path element of one element of a merged list: by its keys, or by its value in a set. */
export function itemElement(item: unknown, type: MergeType): string {
  if (type.keys === undefined) return `v:${canonicalJson(item)}`;
  const keys: Record<string, unknown> = {};
  for (const key of type.keys) {
    const value = isObject(item) ? (item[key] ?? type.keyDefault(key)) : undefined;
    if (value !== undefined) keys[key] = value;
  }
  return `k:${canonicalJson(keys)}`;
}

/** Elements of a merged list by their path elements. */
export function itemsByElement(list: readonly unknown[], type: MergeType): ReadonlyMap<string, unknown> {
  return new Map(list.map((item) => [itemElement(item, type), item]));
}

/**
 * Sorts a merged list: elements named in `order` as it says; the others keep their place before the element that they
 * preceded in `oldOrder`.
 */
export function sortMerged<Item>(
  items: readonly Item[],
  order: readonly string[],
  oldOrder: readonly string[],
  elementOf: (item: Item) => string,
): readonly Item[] {
  const position = new Map(order.map((element, index) => [element, index]));
  const oldPosition = new Map(oldOrder.map((element, index) => [element, index]));
  const named = items.filter((item) => position.has(elementOf(item)));
  named.sort((left, right) => (position.get(elementOf(left)) ?? 0) - (position.get(elementOf(right)) ?? 0));
  const others = items.filter((item) => !position.has(elementOf(item)));
  const sorted: Item[] = [];
  for (const item of named) {
    const before = oldPosition.get(elementOf(item)) ?? -1;
    while (others[0] !== undefined && (oldPosition.get(elementOf(others[0])) ?? Infinity) < before)
      sorted.push(...others.splice(0, 1));
    sorted.push(item);
  }
  return [...sorted, ...others];
}

/**
 * Order of a list after something was applied to it: shared elements are in the order in which they were applied, those that only one of
 * the two lists has keep their place among them. The walk through both lists is that of the real server.
 */
export function appliedOrder(live: readonly string[], applied: readonly string[]): readonly string[] {
  const isApplied = new Set(applied);
  const isLive = new Set(live);
  const shared = applied.filter((element) => isLive.has(element));
  const order = new Set<string>();
  let liveIndex = 0;
  let appliedIndex = 0;
  for (;;) {
    const mine = live[liveIndex];
    const theirs = applied[appliedIndex];
    if (mine === undefined && theirs === undefined) return [...order];
    if (mine !== undefined && !isApplied.has(mine)) {
      order.add(mine);
      liveIndex += 1;
    } else if (mine !== undefined && shared[0] !== mine) {
      // Its turn comes, or came, with the applied elements.
      liveIndex += 1;
    } else if (theirs !== undefined) {
      order.add(theirs);
      appliedIndex += 1;
      if (shared[0] === theirs) shared.shift();
    }
  }
}
