import { createHash } from 'node:crypto';
import { canonicalJson, isObject, isRawJson, type Json } from '@addon-operator/json';
import { escapeSegment } from '@addon-operator/json/pointer';
import { cutMiddle } from '@addon-operator/strings/cut-middle';
import { NOT_FINITE } from '@addon-operator/yaml/yaml-scalars';

const MAX_DEPTH = 100;
const MAX_PATH_CHARACTERS = 400;

/** A path as messages show it: both ends of a long one. */
export function shownPath(path: string): string {
  return cutMiddle(path, MAX_PATH_CHARACTERS);
}

/** Whether parsed JSON is allowed in values: at most 100 levels deep, and finite numbers only. */
export function isValuesJson(value: unknown): value is Json {
  return valuesJsonProblem(value) === undefined;
}

/**
 * Why parsed JSON is not allowed in values, after the JSON pointer of the first part that is not, as in
 * `/limits/max: numbers must be finite`; undefined if it can.
 *
 * @param pointer of the value itself
 */
export function valuesJsonProblem(value: unknown, pointer = '', depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || isRawJson(value))
    return undefined;
  if (typeof value === 'number') return behind(pointer, Number.isFinite(value) ? undefined : NOT_FINITE);
  if (!Array.isArray(value) && !isObject(value)) return behind(pointer, 'it is not JSON');
  if (depth >= MAX_DEPTH) return behind(pointer, `it is nested deeper than ${MAX_DEPTH} levels`);
  for (const key of Object.keys(value)) {
    // Of most parts there is nothing to say, and their pointers are not needed.
    const problem = valuesJsonProblem(Reflect.get(value, key), '', depth + 1);
    if (problem !== undefined) return `${pointer}/${escapeSegment(key)}${problem}`;
  }
  return undefined;
}

function behind(pointer: string, reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : `${shownPath(pointer)}: ${reason}`;
}

/** MD5 (hex) over key-sorted compact JSON: equal values have equal checksums, however they were written. */
export function valuesChecksum(value: unknown): string {
  return createHash('md5').update(canonicalJson(value)).digest('hex');
}
