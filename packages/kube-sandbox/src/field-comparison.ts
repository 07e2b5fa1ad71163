import { isObject } from '@addon-operator/json';
import { childPath, FieldSet } from './field-set.ts';
import { equalJson, type Fields } from './json-access.ts';
import { isMergedList, itemElement, itemsByElement } from './list-items.ts';
import type { FieldRule } from './structures.ts';
import type { TypeRules } from './type-rules.ts';

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
export function compareFields(before: Fields, after: Fields, rules: TypeRules): FieldComparison {
  const differences: Differences = { added: new Set(), modified: new Set(), removed: new Set() };
  compareChildren(before, after, rules, '', differences);
  return {
    added: new FieldSet(differences.added),
    modified: new FieldSet(differences.modified),
    removed: new FieldSet(differences.removed),
  };
}

function compareChildren(
  before: Fields | undefined,
  after: Fields | undefined,
  rules: TypeRules,
  path: string,
  differences: Differences,
): void {
  for (const field of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
    const element = childPath(path, `f:${field}`);
    const pair = { before: before?.[field], after: after?.[field] };
    compareValues(pair, rules.rule(field), rules.below(field), element, differences);
  }
}

interface Pair {
  readonly before: unknown;
  readonly after: unknown;
}

function compareValues(
  { before, after }: Pair,
  rule: FieldRule,
  below: TypeRules,
  path: string,
  differences: Differences,
): void {
  if (before === undefined && after === undefined) return;
  const isLeaf = rule.atomic === true || !(hasChildren(before, rule) || hasChildren(after, rule));
  if (isLeaf || !equalShape(before, after)) {
    if (before === undefined) markAll(after, rule, below, path, differences.added);
    else if (after === undefined) markAll(before, rule, below, path, differences.removed);
    else if (!equalJson(before, after)) differences.modified.add(path);
    return;
  }
  if (before === undefined) differences.added.add(path);
  if (after === undefined) differences.removed.add(path);
  if (Array.isArray(before) || Array.isArray(after))
    compareItems({ before, after }, rule, below, path, differences);
  else compareChildren(asObject(before), asObject(after), below, path, differences);
}

function asObject(value: unknown): Fields | undefined {
  return isObject(value) ? value : undefined;
}

/** Whether two values can be compared part by part; a missing one fits anything. */
function equalShape(before: unknown, after: unknown): boolean {
  if (before === undefined || after === undefined) return true;
  return Array.isArray(before) === Array.isArray(after) && isObject(before) === isObject(after);
}

function hasChildren(value: unknown, rule: FieldRule): boolean {
  if (Array.isArray(value)) return isMergedList(rule) && value.length > 0;
  return isObject(value) && Object.keys(value).length > 0;
}

function compareItems(
  { before, after }: Pair,
  rule: FieldRule,
  below: TypeRules,
  path: string,
  differences: Differences,
): void {
  const oldItems = itemsByElement(before, rule) ?? new Map<string, unknown>();
  const newItems = itemsByElement(after, rule) ?? new Map<string, unknown>();
  for (const element of new Set([...oldItems.keys(), ...newItems.keys()])) {
    const pair = { before: oldItems.get(element), after: newItems.get(element) };
    compareValues(pair, {}, below, childPath(path, element), differences);
  }
}

function markAll(value: unknown, rule: FieldRule, below: TypeRules, path: string, marks: Set<string>): void {
  marks.add(path);
  if (rule.atomic !== true && hasChildren(value, rule)) markChildren(value, rule, below, path, marks);
}

function markChildren(
  value: unknown,
  rule: FieldRule,
  below: TypeRules,
  path: string,
  marks: Set<string>,
): void {
  if (Array.isArray(value)) {
    for (const item of value) markAll(item, {}, below, childPath(path, itemElement(item, rule)), marks);
  } else if (isObject(value)) {
    for (const [field, child] of Object.entries(value))
      markAll(child, below.rule(field), below.below(field), childPath(path, `f:${field}`), marks);
  }
}

/** Paths that an applied configuration owns: its leaves, and the elements of its merged lists. */
export function appliedFields(configuration: Fields, rules: TypeRules): FieldSet {
  const paths = new Set<string>();
  collectFields(configuration, rules, '', paths);
  return new FieldSet(paths);
}

function collectFields(fields: Fields, rules: TypeRules, path: string, paths: Set<string>): void {
  for (const [field, value] of Object.entries(fields)) {
    collectValue(value, rules.rule(field), rules.below(field), childPath(path, `f:${field}`), paths);
  }
}

function collectValue(
  value: unknown,
  rule: FieldRule,
  below: TypeRules,
  path: string,
  paths: Set<string>,
): void {
  if (rule.atomic === true || !hasChildren(value, rule)) {
    paths.add(path);
  } else if (Array.isArray(value)) {
    for (const item of value) {
      const itemPath = childPath(path, itemElement(item, rule));
      paths.add(itemPath);
      if (isObject(item)) collectFields(item, below, itemPath, paths);
    }
  } else if (isObject(value)) collectFields(value, below, path, paths);
}
