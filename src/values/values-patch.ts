/**
 * Parses and checks the values patches that a hook wrote. `hooks/parse-outputs.ts` calls it after each run. Only `add`,
 * `remove` and `test` are accepted, only below the section of the hook's owner, and only JSON that values can hold. Error
 * messages name the operation and its path, never its value, which may be a secret.
 */

import { OperatorError } from '@addon-operator/base/errors';
import { finish, type Steps } from '@addon-operator/concurrency/steps';
import { isObject, type Json, parseJson } from '@addon-operator/json';
import { hasMoreItems, jsonStream } from '@addon-operator/json/json-stream';
import { parsePointer } from '@addon-operator/json/pointer';
import { isValuesJson, shownPath, valuesJsonProblem } from './json-values.ts';
import { GLOBAL_SECTION, sectionOf, type ValuesOwner } from './module-key.ts';

/** One JSON patch operation (RFC 6902) on values. `path` is an RFC 6901 pointer that starts with the section's key. */
export type ValuesOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'test'; readonly path: string; readonly value: Json };

/** Which of the two patch files of a hook. */
type PatchFile = 'values' | 'config values';

/** Keys and values of a patch: all of it is checked, applied and compared at once, which takes as long as to read it. */
const MAX_ITEMS = 100_000;

/** Ending of the keys that switch modules on and off, in values files and in patches of global hooks. */
export const FLAG_SUFFIX = 'Enabled';

/**
 * Reads what a hook wrote: a stream of operations and arrays of operations. Other JSON values in the stream are passed
 * over. An empty text gives no operations.
 *
 * @param owner whose hook wrote it: a module's hook may touch the section of its module, a global hook the global
 *   section and the flags of modules
 * @throws OperatorError VALUES_PATCH_INVALID when anything in it is not allowed; values are not repeated in the message
 */
export function parseValuesPatch(
  json: string,
  file: PatchFile,
  owner: ValuesOwner,
): readonly ValuesOperation[] {
  return finish(valuesPatchSteps(json, file, owner));
}

/** The steps of {@link parseValuesPatch}. */
export function* valuesPatchSteps(
  json: string,
  file: PatchFile,
  owner: ValuesOwner,
): Steps<readonly ValuesOperation[]> {
  const operations: ValuesOperation[] = [];
  if (hasMoreItems(json, MAX_ITEMS))
    throw badData(file, `it has more than ${MAX_ITEMS} keys and values: keep large data in objects or files`);
  for (const { text: piece, offset } of jsonStream(json)) {
    const value = parsePiece(piece, offset, file);
    const items = Array.isArray(value) ? value : [value].filter(isObject);
    for (const item of items) operations.push(parseOperation(item, file, owner));
    // A large patch is parsed in steps, so that other work of the daemon is not delayed.
    yield;
  }
  return operations;
}

function parsePiece(json: string, offset: number, file: PatchFile): unknown {
  try {
    return parseJson(json);
  } catch {
    // The parser's own message quotes the text, which may hold secrets.
    throw badData(file, `the JSON value that starts at character ${offset} is broken`);
  }
}

function parseOperation(item: unknown, file: PatchFile, owner: ValuesOwner): ValuesOperation {
  if (!isObject(item)) throw badData(file, 'an operation must be an object with "op" and "path"');
  const { op, path, value } = item;
  if (typeof op !== 'string' || typeof path !== 'string') {
    throw badData(file, '"op" and "path" of an operation must be strings');
  }
  if (op !== 'add' && op !== 'remove' && op !== 'test') {
    throw new OperatorError(
      'VALUES_PATCH_INVALID',
      `unsupported patch operation '${shownPath(op)}': '${shown(op, path)}' (use add, remove or test; add overwrites)`,
    );
  }
  checkRoot(op, path, owner, file);
  if (op === 'remove') return { op, path };
  if (value === undefined) throw badData(file, `'${shown(op, path)}' has no value`);
  const depth = (parsePointer(path)?.length ?? 1) - 1;
  const problem = valuesJsonProblem(value, path, depth);
  if (problem !== undefined || !isValuesJson(value)) {
    throw badData(file, `'${shown(op, path)}' has an invalid value: ${problem}`);
  }
  return { op, path, value };
}

function checkRoot(op: string, path: string, owner: ValuesOwner, file: PatchFile): void {
  const root = parsePointer(path)?.[0];
  if (root === undefined) throw badData(file, `"${shownPath(path)}" is not a JSON pointer`);
  if (owner === GLOBAL_SECTION) {
    if (root === GLOBAL_SECTION || root.endsWith(FLAG_SUFFIX)) return;
    throw unacceptable(root, "only 'global' and '*Enabled' are permitted", shown(op, path));
  }
  const key = sectionOf(owner);
  if (root !== key) throw unacceptable(root, `only '${key}' accepted`, shown(op, path));
}

function unacceptable(root: string, rule: string, operation: string): OperatorError {
  return new OperatorError(
    'VALUES_PATCH_INVALID',
    `unacceptable patch operation for path '${shownPath(root)}' (${rule}): '${operation}'`,
  );
}

function badData(file: PatchFile, why: string): OperatorError {
  return new OperatorError(
    'VALUES_PATCH_INVALID',
    `got bad json patch for ${file}: bad json-patch data: ${why}`,
  );
}

/** An operation without its value. */
function shown(op: string, path: string): string {
  return JSON.stringify({ op, path: shownPath(path) });
}
