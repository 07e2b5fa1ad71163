import { isObject } from '@addon-operator/json';
import { childPath, FieldSet } from './field-set.ts';
import { equalJson, type Fields } from './json-access.ts';
import { itemElement } from './list-items.ts';
import type { MergeType } from './merge-type.ts';

/** Paths in which two states of an object differ. */
export interface FieldComparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

interface Differences {
  readonly added: Set<string>;
  readonly modified: Set<string>;
  readonly removed: Set<string>;
}

/** Compares two objects field by field; lists that are merged are compared element by element. */
export function compareFields(before: Fields, after: Fields, type: MergeType): FieldComparison {
  const differences: Differences = { added: new Set(), modified: new Set(), removed: new Set() };
  compareChildren(before, after, type, '', differences);
  return {
    added: new FieldSet(differences.added),
    modified: new FieldSet(differences.modified),
    removed: new FieldSet(differences.removed),
  };
}

function compareChildren(
  before: unknown,
  after: unknown,
  type: MergeType,
  path: string,
  differences: Differences,
): void {
  const oldChildren = new Map(children(before, type).map((child) => [child.element, child]));
  const newChildren = new Map(children(after, type).map((child) => [child.element, child]));
  for (const [element, child] of new Map([...oldChildren, ...newChildren])) {
    const pair = [oldChildren.get(element)?.value, newChildren.get(element)?.value] as const;
    compareValues(pair, child.type, childPath(path, element), differences);
  }
}

/** A field of an object, or an element of a merged list. */
interface Child {
  readonly element: string;
  readonly value: unknown;
  readonly type: MergeType;
}

function children(value: unknown, type: MergeType): readonly Child[] {
  if (Array.isArray(value))
    return value.map((item) => ({ element: itemElement(item, type), value: item, type: type.item }));
  if (!isObject(value)) return [];
  return Object.entries(value).map(([field, content]) => ({
    element: `f:${field}`,
    value: content,
    type: type.field(field),
  }));
}

function compareValues(
  [before, after]: readonly [before: unknown, after: unknown],
  type: MergeType,
  path: string,
  differences: Differences,
): void {
  if (before === undefined && after === undefined) return;
  const isLeaf = !hasParts(before, type) && !hasParts(after, type);
  if (isLeaf || !equalShape(before, after)) {
    if (before === undefined) markAll(after, type, path, differences.added);
    else if (after === undefined) markAll(before, type, path, differences.removed);
    else if (!equalJson(before, after)) differences.modified.add(path);
    return;
  }
  if (before === undefined) differences.added.add(path);
  if (after === undefined) differences.removed.add(path);
  compareChildren(before, after, type, path, differences);
}

/** Whether two values can be compared part by part; a missing one fits anything. */
function equalShape(before: unknown, after: unknown): boolean {
  if (before === undefined || after === undefined) return true;
  return Array.isArray(before) === Array.isArray(after) && isObject(before) === isObject(after);
}

/** Whether a value has parts with owners of their own. */
function hasParts(value: unknown, type: MergeType): boolean {
  if (type.isAtomic) return false;
  if (Array.isArray(value)) return type.isMergedList && value.length > 0;
  return isObject(value) && Object.keys(value).length > 0;
}

function markAll(value: unknown, type: MergeType, path: string, marks: Set<string>): void {
  marks.add(path);
  if (!hasParts(value, type)) return;
  for (const child of children(value, type))
    markAll(child.value, child.type, childPath(path, child.element), marks);
}

/** Paths that an applied configuration owns: its leaves, and the elements of its merged lists. */
export function appliedFields(configuration: Fields, type: MergeType): FieldSet {
  const paths = new Set<string>();
  collectFields(configuration, type, '', paths);
  return new FieldSet(paths);
}

function collectFields(value: unknown, type: MergeType, path: string, paths: Set<string>): void {
  for (const child of children(value, type)) {
    const place = childPath(path, child.element);
    const isParent = hasParts(child.value, child.type);
    if (!isParent || Array.isArray(value)) paths.add(place);
    if (isParent) collectFields(child.value, child.type, place, paths);
  }
}
