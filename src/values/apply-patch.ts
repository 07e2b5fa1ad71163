import { OperatorError } from '../lib/errors.ts';
import { canonicalJson, type Json, type JsonObject } from '../lib/json.ts';
import { parsePointer } from './json-pointer.ts';
import { isJsonMap } from './merge.ts';
import type { PatchOperation } from './values-patch.ts';

/** `strict` for what a hook delivers; `tolerant` lets a `remove` of something that is not there pass. */
export type PatchMode = 'strict' | 'tolerant';

/**
 * The document with all operations applied, in their order. The document itself is never changed, so a failure leaves
 * nothing behind.
 *
 * @throws OperatorError VALUES_PATCH_INVALID for the first operation that does not apply
 */
export function applyPatch(
  document: JsonObject,
  operations: readonly PatchOperation[],
  mode: PatchMode,
): JsonObject {
  return operations.reduce((patched, operation) => applyOperation(patched, operation, mode), document);
}

function applyOperation(document: JsonObject, operation: PatchOperation, mode: PatchMode): JsonObject {
  const segments = parsePointer(operation.path);
  if (segments === undefined) {
    throw refused(operation, `"${operation.path}" is not a JSON pointer`);
  }
  const edit: Edit = { operation, mode };
  return editMap(document, segments[0], segments.slice(1), edit);
}

interface Edit {
  readonly operation: PatchOperation;
  readonly mode: PatchMode;
}

function editMap(map: JsonObject, key: string, rest: readonly string[], edit: Edit): JsonObject {
  const present = Object.hasOwn(map, key) ? map[key] : undefined;
  const [next, ...others] = rest;
  if (next !== undefined) {
    if (present === undefined) return missing(map, edit);
    const edited = editWithin(present, next, others, edit);
    return edited === present ? map : { ...map, [key]: edited };
  }
  switch (edit.operation.op) {
    case 'add':
      return { ...map, [key]: edit.operation.value };
    case 'remove':
      return present === undefined ? missing(map, edit) : omit(map, key);
    case 'test':
      checkEqual(present, edit.operation);
      return map;
  }
}

function editList(
  list: readonly Json[],
  segment: string,
  rest: readonly string[],
  edit: Edit,
): readonly Json[] {
  const index = listIndex(segment, list, edit);
  const present = index === undefined ? undefined : list[index];
  const [next, ...others] = rest;
  if (next !== undefined) {
    if (index === undefined || present === undefined) return missing(list, edit);
    const edited = editWithin(present, next, others, edit);
    return edited === present ? list : list.with(index, edited);
  }
  switch (edit.operation.op) {
    case 'add':
      return index === undefined ? missing(list, edit) : list.toSpliced(index, 0, edit.operation.value);
    case 'remove':
      return index === undefined || present === undefined ? missing(list, edit) : list.toSpliced(index, 1);
    case 'test':
      checkEqual(present, edit.operation);
      return list;
  }
}

function editWithin(container: Json, segment: string, rest: readonly string[], edit: Edit): Json {
  if (isJsonMap(container)) return editMap(container, segment, rest, edit);
  if (Array.isArray(container)) return editList(container, segment, rest, edit);
  return missing(container, edit);
}

/** The index a segment names in a list, the end of the list included; undefined for anything else. */
function listIndex(segment: string, list: readonly Json[], { operation }: Edit): number | undefined {
  if (segment === '-') return operation.op === 'add' ? list.length : undefined;
  if (!/^(?:0|[1-9][0-9]*)$/.test(segment)) return undefined;
  const index = Number(segment);
  return index <= list.length ? index : undefined;
}

function missing<T>(container: T, { operation, mode }: Edit): T {
  switch (operation.op) {
    case 'remove':
      if (mode === 'tolerant') return container;
      throw refused(operation, `doc is missing path: "${operation.path}": missing value`);
    case 'add':
      throw refused(operation, `doc is missing path: "${operation.path}": missing value`);
    case 'test':
      throw testFailed(operation);
  }
}

function checkEqual(present: Json | undefined, operation: PatchOperation & { readonly op: 'test' }): void {
  if (present === undefined || canonicalJson(present) !== canonicalJson(operation.value)) {
    throw testFailed(operation);
  }
}

function omit(map: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([other]) => other !== key));
}

function refused(operation: PatchOperation, why: string): OperatorError {
  return new OperatorError('VALUES_PATCH_INVALID', `${operation.op} operation does not apply: ${why}`);
}

function testFailed(operation: PatchOperation): OperatorError {
  return new OperatorError('VALUES_PATCH_INVALID', `testing value ${operation.path} failed: test failed`);
}
