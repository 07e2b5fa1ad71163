/**
 * Applies JSON patch operations (RFC 6902) to values. It is called by `values-store.ts` for stored patches and by
 * `section-patch.ts` for new ones. The input is never changed: maps and lists on the way to a change are copied once,
 * and all others are shared with the result. The first operation that does not apply throws.
 */

import { OperatorError } from '@addon-operator/base/errors';
import { canonicalJson, type Json, type JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { parsePointer } from '@addon-operator/json/pointer';
import { shownPath } from './json-values.ts';
import type { ValuesOperation } from './values-patch.ts';

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
  operations: readonly ValuesOperation[],
  mode: PatchMode,
): JsonObject {
  const draft = new Draft(document);
  for (const operation of operations) applyOperation(draft, operation, mode);
  return draft.document;
}

type Container = JsonObject | readonly Json[];
type OwnMap = { [key: string]: Json };
type OwnContainer = OwnMap | Json[];

/** A document of which every map and list that is changed is copied once, however many operations change it. */
class Draft {
  #document: JsonObject;
  readonly #copies = new Set<Container>();

  constructor(document: JsonObject) {
    this.#document = document;
  }

  get document(): JsonObject {
    return this.#document;
  }

  /** The container that existing segments lead to, as a copy that may be changed. */
  own(segments: readonly string[]): OwnContainer {
    const root = this.#copyOnce(this.#document);
    if (!Array.isArray(root)) this.#document = root;
    let container = root;
    for (const segment of segments) {
      const child = childOf(container, segment);
      // Only paths that were found come here.
      if (!isContainer(child)) return container;
      const copy = this.#copyOnce(child);
      if (Array.isArray(container)) container[Number(segment)] = copy;
      else setKey(container, segment, copy);
      container = copy;
    }
    return container;
  }

  #copyOnce(container: Container): OwnContainer {
    if (this.#copies.has(container)) return container as OwnContainer;
    const copy: OwnContainer = isJsonMap(container) ? { ...container } : [...container];
    this.#copies.add(copy);
    return copy;
  }
}

function applyOperation(draft: Draft, operation: ValuesOperation, mode: PatchMode): void {
  const segments = parsePointer(operation.path);
  if (segments === undefined) {
    throw refused(operation, `"${shownPath(operation.path)}" is not a JSON pointer`);
  }
  const parents = segments.slice(0, -1);
  const last = segments.at(-1) ?? '';
  const container = parents.reduce<Json | undefined>(childOf, draft.document);
  // The parent is missing: add and remove never create parents, as in RFC 6902.
  if (!isContainer(container)) {
    refuseMissing(operation, mode);
    return;
  }
  switch (operation.op) {
    case 'add': {
      const index = Array.isArray(container) ? insertionIndex(container, last) : undefined;
      if (Array.isArray(container) && index === undefined) throw missing(operation);
      const own = draft.own(parents);
      if (Array.isArray(own)) own.splice(index ?? 0, 0, operation.value);
      else setKey(own, last, operation.value);
      return;
    }
    case 'remove': {
      if (childOf(container, last) === undefined) {
        refuseMissing(operation, mode);
        return;
      }
      const own = draft.own(parents);
      if (Array.isArray(own)) own.splice(Number(last), 1);
      else delete own[last];
      return;
    }
    case 'test':
      checkEqual(childOf(container, last), operation);
  }
}

function isContainer(value: Json | undefined): value is Container {
  return Array.isArray(value) || isJsonMap(value);
}

/** The child that a segment names in a map or a list; undefined if there is none. */
function childOf(value: Json | undefined, segment: string): Json | undefined {
  if (isJsonMap(value)) return Object.hasOwn(value, segment) ? value[segment] : undefined;
  return Array.isArray(value) && LIST_INDEX.test(segment) ? value[Number(segment)] : undefined;
}

/** Without leading zeros, as RFC 6901 demands. */
const LIST_INDEX = /^(?:0|[1-9][0-9]*)$/;

/** Where in a list a segment inserts, the end of the list included; undefined for anything else. */
function insertionIndex(list: readonly Json[], segment: string): number | undefined {
  if (segment === '-') return list.length;
  return LIST_INDEX.test(segment) && Number(segment) <= list.length ? Number(segment) : undefined;
}

function setKey(map: OwnMap, key: string, value: Json): void {
  // Assigning to `__proto__` would change what the map is.
  if (key !== '__proto__') map[key] = value;
  else Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true });
}

function refuseMissing(operation: ValuesOperation, mode: PatchMode): void {
  if (operation.op === 'test') throw testFailed(operation);
  if (operation.op === 'add' || mode === 'strict') throw missing(operation);
}

function missing(operation: ValuesOperation): OperatorError {
  return refused(operation, `doc is missing path: "${shownPath(operation.path)}": missing value`);
}

function checkEqual(present: Json | undefined, operation: ValuesOperation & { readonly op: 'test' }): void {
  if (present === undefined || canonicalJson(present) !== canonicalJson(operation.value)) {
    throw testFailed(operation);
  }
}

function refused(operation: ValuesOperation, why: string): OperatorError {
  return new OperatorError('VALUES_PATCH_INVALID', `${operation.op} operation does not apply: ${why}`);
}

function testFailed(operation: ValuesOperation): OperatorError {
  return new OperatorError(
    'VALUES_PATCH_INVALID',
    `testing value ${shownPath(operation.path)} failed: test failed`,
  );
}
